"""The documents that a dataset brings along, as files that ingest reads: one a document, its metadata in a sidecar.

They lie beside the dataset from then on, where anybody can look at them and ingest finds them again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import yaml

from workbench.corpus.metadata import SIDECAR_SUFFIX, checked
from workbench.errors import FileError, UsageError, reason_of
from workbench.evals.formats import read_documents
from workbench.evals.formats.source import Passage
from workbench.i18n import tr
from workbench.records.cases import RowProblem

FOLDER: Final = "documents"
_LONGEST_NAME: Final = 120  # characters; file systems take 255 bytes


@dataclass(frozen=True, slots=True)
class Unpacked:
    """Documents as files: the folder to ingest, how many, and the rows that became none."""

    folder: Path
    count: int
    problems: tuple[RowProblem, ...]


def unpack_documents(dataset: Path, format: str = "") -> Unpacked:
    """Writes the dataset's documents to ``documents/`` in its folder, or to ``NAME.documents/`` beside its file.

    A document's text is its title, unless it begins with it already, and its text. Its sidecar names it as the gold
    does (``source_id``). What is there already and hasn't changed is left alone.

    Raises:
        UsageError: a format without documents, or the folder holds other files.
        DocumentError: the dataset can't be read.
        FileError: the folder can't be written.
    """
    found = list(read_documents(dataset, format=format))
    passages = {passage.name: passage for passage in found if isinstance(passage, Passage)}
    problems = [problem for problem in found if isinstance(problem, RowProblem)]
    folder = dataset / FOLDER if dataset.is_dir() else dataset.with_name(f"{dataset.stem}.{FOLDER}")
    files = {name: content for passage in passages.values() for name, content in _files(passage, problems)}
    try:
        _refuse_others(folder, files)
        folder.mkdir(exist_ok=True)
        for name, content in files.items():
            _write(folder / name, content)
    except OSError as error:
        raise FileError(
            tr("The documents can't be written"),
            tr("{path} can't be written: {reason}", path=str(folder), reason=reason_of(error)),
            tr("Copy the dataset to a folder where you may write."),
        ) from error
    return Unpacked(folder, len(passages), tuple(problems))


def _files(passage: Passage, problems: list[RowProblem]) -> Iterator[tuple[str, str]]:
    """(name, content) of the text and of its sidecar; metadata that can't be kept is named."""
    good, wrong = checked({str(key): value for key, value in passage.metadata.items() if value is not None})
    for reason in wrong:
        told = tr("“{name}”: left out of the metadata: {reason}", name=passage.name, reason=reason)
        problems.append(RowProblem(0, told, skipped=False))
    fields: dict[str, Any] = {**{key: _plain(value) for key, value in good.items()}, "source_id": passage.name}
    if passage.title.strip():
        fields["title"] = " ".join(passage.title.split())
    name = _file_name(passage.name)
    yield name, _text(passage)
    yield name + SIDECAR_SUFFIX, yaml.safe_dump(fields, allow_unicode=True, sort_keys=True)


def _text(passage: Passage) -> str:
    title, text = passage.title.strip(), passage.text.strip()
    begins = " ".join(text.split()).startswith(" ".join(title.split()))
    return (text if begins else f"{title}\n\n{text}".strip()) + "\n"


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _file_name(document: str) -> str:
    """A name that every file system takes, different for each document and readable where it can be."""
    name = quote(document, safe=" ").replace(".", "%2E", 1) if document.startswith(".") else quote(document, safe=" ")
    if len(name) > _LONGEST_NAME:
        digest = hashlib.sha256(document.encode("utf-8", "replace")).hexdigest()[:16]
        name = f"{name[:_LONGEST_NAME].rstrip('%')}-{digest}"
    return f"{name}.txt"


def _refuse_others(folder: Path, files: Mapping[str, str]) -> None:
    """Ingest reads all that lies in the folder: what isn't the dataset's may not be there."""
    there = sorted(folder.iterdir()) if folder.is_dir() else []
    other = next((file for file in there if file.name not in files), None)
    if other is not None:
        raise UsageError(
            tr("The folder is in use"),
            tr("{folder} holds other files than the dataset's documents: {name}", folder=folder, name=other.name),
            tr("Move that folder away, or ingest it by yourself: workbench ingest PATH"),
        )


def _write(path: Path, content: str) -> None:
    if not path.is_file() or path.read_text("utf-8") != content:
        path.write_text(content, "utf-8", newline="\n")
