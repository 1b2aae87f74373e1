"""What can rerank on this machine: late interaction, cross-encoders' folders, and GGUF files with a ranking head."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from workbench.i18n import tr
from workbench.records.models import ModelFile
from workbench.records.rerankers import LATE, NONE, RerankerInfo

TOKENIZER_FILES: Final = ("tokenizer.json", "tokenizer_config.json")


def installed(folder: Path, files: Iterable[ModelFile]) -> tuple[RerankerInfo, ...]:
    """Late interaction first, then by name. Of two of one name the folder counts.

    Args:
        folder: of cross-encoders, one folder each: an ONNX file in it or in its ``onnx``, and the tokenizer's files.
        files: GGUF files; those that rank are taken.
    """
    found = {file.name: _of_file(file) for file in files if file.ranks}
    found |= {path.name: _of_folder(path) for path in folder.glob("*/") if path.is_dir()}
    return RerankerInfo(LATE, "late"), *(found[name] for name in sorted(found))


def _of_file(file: ModelFile) -> RerankerInfo:
    return RerankerInfo(file.name, "gguf", file.path, size=file.size, problem=file.problem or _taken(file.name))


def _of_folder(folder: Path) -> RerankerInfo:
    networks = [*sorted(folder.glob("*.onnx")), *sorted(folder.glob("onnx/*.onnx"))]
    network = next((path for path in networks if path.name == "model.onnx"), networks[0] if networks else None)
    missing = [name for name in TOKENIZER_FILES if not (folder / name).is_file()]
    missing += [] if network else ["model.onnx"]
    return RerankerInfo(
        name=folder.name,
        kind="onnx",
        path=str(folder),
        model_file=network.relative_to(folder).as_posix() if network else "",
        size=network.stat().st_size if network else 0,
        problem=tr("it lacks {what}", what=", ".join(missing)) if missing else _taken(folder.name),
    )


def _taken(name: str) -> str:
    return tr("“{name}” is a word of the workbench: rename it", name=name) if name in (NONE, LATE) else ""
