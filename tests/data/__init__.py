"""Real data for tests: small excerpts kept beside this file, and the shared folder where it is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def shared(*parts: str) -> Path:
    """A path in the shared data folder ; skips the test where there is none."""
    root = Path(os.environ.get("WORKBENCH_DATA", Path(__file__).parents[3] / "shared" / "data"))
    path = root.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs the shared data: {'/'.join(parts)} (set WORKBENCH_DATA)")
    return path
