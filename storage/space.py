"""Where a file's bytes are, told from its pages: no build of SQLite that we rely on has ``dbstat``.

The format is SQLite's own (sqlite.org/fileformat2.html): a table or an index is a tree of pages, and what doesn't fit
into a cell goes on in a chain of overflow pages, whose number follows from the length of the cell's content.
"""

from __future__ import annotations

import os
import re
import struct
from collections import Counter
from dataclasses import dataclass
from typing import Final

from storage.connections import Connections
from storage.driver import Connection
from storage.indexes import read_indexes, vector_gaps
from workbench.errors import Cancelled
from workbench.i18n import tr
from workbench.ports import Cancel
from workbench.records.health import SpaceItem, SpaceMap

_HEADER: Final = 100
_INTERIOR_INDEX, _INTERIOR_TABLE, _LEAF_INDEX, _LEAF_TABLE = 2, 5, 10, 13
_OF_INDEX: Final = re.compile(r"index_(\d+)_(words|vectors|tokens|originals)")
_LOOK_UP: Final = 256
"""Pages between two looks at whether the work was cancelled."""


@dataclass(frozen=True, slots=True)
class _Page:
    """What a page says: its children, the overflow pages of its cells, and the bytes that hold nothing."""

    children: tuple[int, ...]
    overflow: int
    unused: int


def space_map(connections: Connections, cancel: Cancel | None) -> SpaceMap:
    """Visits every page that is in use. Raises Cancelled, FileError."""
    # Afterwards a reader that finds the log empty reads the file alone, and nothing is written to it meanwhile.
    connections.alone(lambda c: c.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())
    path = connections.path
    log = path.with_name(path.name + "-wal")
    with connections.read() as c, path.open("rb") as file:
        c.execute("BEGIN")
        try:
            roots = c.execute("SELECT tbl_name, rootpage FROM sqlite_master WHERE rootpage > 0").fetchall()
            size, free = (c.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_size", "freelist_count"))
            walk = _Walk(file.fileno(), size, cancel)
            walk.add("sqlite_master", 1)
            for name, root in roots:
                walk.add(name, root)
            gaps = {
                f"index_{index.id}_vectors": vector_gaps(c, index.id, index.form, index.embedder.dimension)
                for index in read_indexes(c, "i.status <> ?", "retired")
            }
            items = [
                SpaceItem(name, _what(c, name), pages * size, walk.unused[name], pages, gaps.get(name, 0))
                for name, pages in _grouped(walk.pages, walk.unused).items()
            ]
        finally:
            c.execute("COMMIT")
    items.sort(key=lambda item: (-item.bytes, item.name))
    return SpaceMap(path.stat().st_size, log.stat().st_size if log.exists() else 0, free * size, tuple(items))


class _Walk:
    """Counts the pages of trees in an open file."""

    def __init__(self, file: int, size: int, cancel: Cancel | None) -> None:
        self._file, self._size, self._cancel = file, size, cancel
        self._usable = size - os.pread(file, 1, 20)[0]
        self._seen = 0
        self.pages: Counter[str] = Counter()
        self.unused: Counter[str] = Counter()

    def add(self, name: str, root: int) -> None:
        """Counts the tree with that root page as ``name``'s."""
        waiting = [root]
        while waiting:
            self._seen += 1
            if self._cancel is not None and self._seen % _LOOK_UP == 0 and self._cancel.is_set():
                raise Cancelled
            page = self._read(waiting.pop())
            self.pages[name] += 1 + page.overflow
            self.unused[name] += page.unused
            waiting += page.children

    def _read(self, number: int) -> _Page:
        data = os.pread(self._file, self._size, (number - 1) * self._size)
        at = _HEADER if number == 1 else 0
        kind, block, cells, content, fragments = struct.unpack_from(">BHHHB", data, at)
        interior = kind in (_INTERIOR_INDEX, _INTERIOR_TABLE)
        head = at + (12 if interior else 8)
        unused = (content or 65536) - head - 2 * cells + fragments
        while block:
            block, length = struct.unpack_from(">HH", data, block)
            unused += length
        places = struct.unpack_from(f">{cells}H", data, head)
        children = [struct.unpack_from(">I", data, place)[0] for place in places] if interior else []
        if interior:
            children.append(struct.unpack_from(">I", data, at + 8)[0])
        overflow = 0
        if kind != _INTERIOR_TABLE:
            skip = 4 if interior else 0
            for place in places:
                length = _varint(data, place + skip)
                pages, spare = self._overflow(length, table=kind == _LEAF_TABLE)
                overflow += pages
                unused += spare
        return _Page(tuple(children), overflow, unused)

    def _overflow(self, length: int, *, table: bool) -> tuple[int, int]:
        """Overflow pages of a cell with that much content, and the bytes of the last one that it leaves."""
        usable = self._usable
        most = usable - 35 if table else (usable - 12) * 64 // 255 - 23
        if length <= most:
            return 0, 0
        least = (usable - 12) * 32 // 255 - 23
        kept = least + (length - least) % (usable - 4)
        rest = length - (kept if kept <= most else least)
        pages = -(-rest // (usable - 4))
        return pages, pages * (usable - 4) - rest


def _varint(data: bytes, at: int) -> int:
    """SQLite's variable-length integer (of lengths, so never negative)."""
    value = 0
    for byte in data[at : at + 8]:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value
    return value << 8 | data[at + 8]


def _grouped(pages: Counter[str], unused: Counter[str]) -> Counter[str]:
    """Pages by name, the tables behind a virtual table under its own name; ``unused`` follows."""
    found: Counter[str] = Counter()
    for name, count in pages.items():
        match = _OF_INDEX.match(name)
        group = match.group() if match else name
        found[group] += count
        if group != name:
            unused[group] += unused.pop(name)
    return found


def _what(connection: Connection, name: str) -> str:
    """What a table holds, "" for one that needs no word."""
    match = _OF_INDEX.fullmatch(name)
    if match:
        row = connection.execute(
            "SELECT l.name, json_extract(i.embedder, '$.name'), iif(i.replaced IS NULL, i.status, 'kept') "
            "FROM corpus_index i JOIN collection l ON l.id = i.collection_id WHERE i.id = ?",
            (int(match.group(1)),),
        ).fetchone()
        collection, embedder, status = row or ("?", "?", "retired")
        kind = {
            "words": tr("full text"),
            "vectors": tr("vectors"),
            "tokens": tr("token vectors"),
            "originals": tr("vectors to rescore with"),
        }[match.group(2)]
        return f"{kind} · {collection} · {embedder}" + ("" if status == "current" else f" · {tr(status)}")
    return _held().get(name, "")


def _held() -> dict[str, str]:
    """What each plain table holds, in words."""
    return {
        "chunk": tr("chunks with their stems"),
        "document_text": tr("source texts"),
        "document": tr("documents"),
        "field": tr("metadata that filters ask"),
        "trace": tr("traces"),
        "trace_span": tr("traces"),
        "eval_result": tr("evaluation results"),
        "collection": tr("collections"),
        "corpus_index": tr("indexes and their stamps"),
        "indexed_document": tr("which documents an index holds"),
        "dataset": tr("datasets"),
        "dataset_version": tr("datasets"),
        "trace_hit": tr("which rankings hold which chunk"),
        "result_hit": tr("which rankings hold which chunk"),
        "setting": tr("settings"),
        "sqlite_master": tr("the schema"),
        "bench": tr("measurements of models"),
        "bench_sample": tr("measurements of models"),
        "candidate": tr("proposed cases that wait for a review"),
        "decision": tr("decision records"),
        "entry": tr("what was entered in the tools"),
        "eval_judgement": tr("judges' verdicts"),
        "eval_label": tr("people's verdicts"),
        "eval_run": tr("evaluation runs"),
        "gate_set": tr("gates of datasets"),
        "keystroke_session": tr("measured keystrokes"),
        "ladder": tr("ladders of models"),
        "ladder_rung": tr("ladders of models"),
        "ladder_window": tr("ladders of models"),
        "memory_load": tr("measured memory of models"),
        "document_change": tr("what became of documents, for replays"),
        "metadata_edit": tr("edits of metadata, for undoing them"),
        "metadata_edit_document": tr("edits of metadata, for undoing them"),
        "migration": tr("versions of the schema"),
        "model_call": tr("calls of models"),
        "model_call_day": tr("calls of models"),
        "model_file": tr("models and their folders"),
        "model_folder": tr("models and their folders"),
        "model_note": tr("notes and settings of models"),
        "model_preset": tr("notes and settings of models"),
        "ranked_chunk": tr("which rankings hold which chunk"),
        "result_document": tr("which results name which document"),
        "trace_document": tr("which traces name which document"),
        "server": tr("model servers"),
        "sqlite_sequence": tr("numbers given so far"),
    }
