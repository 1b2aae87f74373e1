"""The composition root: the only place that sees every room. It puts the file behind the desk."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import paths

if TYPE_CHECKING:
    from workbench.cli.front import Purpose
    from workbench.desk import Desk

ROOMS = ("workbench", "storage", "screens", "themes")


def main() -> None:
    """Runs ``workbench`` with the process's arguments and exits with its code."""
    paths.go_offline()
    stray = foreign_room()
    if stray:
        sys.stderr.write(
            f"Another package is called “{stray}” on this Python's path and hides the workbench's own.\n"
            "  → Install rag-workbench as an application of its own (uv tool, pipx), or in a new virtual environment.\n"
        )
        sys.exit(1)
    try:
        from workbench.cli import FrontEnds, run

        code = run(sys.argv[1:], FrontEnds(open_desk, run_app))
    except KeyboardInterrupt:  # while the commands are being imported
        code = 130
    sys.exit(code)


def foreign_room() -> str:
    """The first of our packages that comes from another folder than this one (their names are generic), or ""."""
    here = Path(__file__).resolve().parents[1]
    for room in ROOMS:
        spec = find_spec(room)
        if spec is None or spec.origin is None or Path(spec.origin).resolve().parents[1] != here:
            return room
    return ""


def open_desk(file: Path, purpose: Purpose = "create") -> Desk:
    """A desk on ``file``. Raises FileError."""
    from storage import can_write, open_store
    from workbench.desk import Desk

    file = file.resolve()
    read_only = purpose == "read" and file.exists() and not can_write(file)
    return Desk(open_store(file, read_only=read_only, create=purpose == "create"))


def run_app(desk: Desk) -> int:
    """The screens on ``desk`` until the person quits."""
    from screens.app import run

    return run(desk)


if __name__ == "__main__":
    main()
