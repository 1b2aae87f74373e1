"""The checks: each takes light rows and says what is wrong, how bad that is, and what to do.

They are functions of what they are given, so that each can be tried on rows made by hand; ``workbench.health.doctor``
reads the rows and calls them in order.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import islice
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from workbench.health.near import NearGroup
from workbench.i18n import tr
from workbench.i18n.retelling import retold
from workbench.ports import ChunkFact
from workbench.records.corpus import Document, EmbedderInfo, Index
from workbench.records.health import Finding, HealthCheck, Repair, Severity
from workbench.text.damage import damaged_lines
from workbench.text.language import languages

VectorBatches: TypeAlias = Iterable[tuple[Sequence[str], npt.NDArray[np.float32]]]

SHOWN: Final = 200
"""Findings kept with a check; all are counted."""

TINY: Final = 8
"""Tokens, special ones included, under which a chunk says too little to be found by meaning."""

EXPECTED_FIELDS: Final = (("date",), ("version",), ("valid_from", "valid_to"), ("owner",))
"""Metadata that tells whether a source still holds, and whom to ask; of several names, one is enough."""

_COVERED: Final = 0.98
_GAP: Final = 80  # characters in a row, white space apart, that no chunk holds
_SECOND_SHARE: Final = 0.2  # of a chunk's text whose language can be told, from which on it has a second language
_SECOND_LEAST: Final = 80  # characters
_UNIT: Final = 1e-3  # how far from 1 a stored vector's length may be


def truncated(chunks: Sequence[ChunkFact], embedder: EmbedderInfo) -> HealthCheck:
    """Chunks whose end the embedder doesn't see."""
    found = (
        _chunk(c, tr("{tokens} tokens of at most {most}", tokens=c.tokens, most=embedder.max_tokens))
        for c in chunks
        if c.truncated
    )
    return _check(
        "truncated",
        tr("Truncated by the embedder"),
        "error",
        found,
        len(chunks),
        tr("The dense lane can't find what stands at their end. Cut smaller: workbench ingest --rechunk --recipe …"),
    )


def tiny(chunks: Sequence[ChunkFact]) -> HealthCheck:
    """Chunks with hardly any text."""
    found = (_chunk(c, tr("{tokens} tokens", tokens=c.tokens)) for c in chunks if c.tokens < TINY or not c.characters)
    return _check(
        "tiny",
        tr("Empty or tiny chunks"),
        "warning",
        found,
        len(chunks),
        tr("They match by accident. A recipe that keeps headings with their text avoids most of them."),
    )


def copies(chunks: Sequence[ChunkFact]) -> HealthCheck:
    """Chunks of current documents whose text is the same to the character."""
    by_hash: defaultdict[str, list[ChunkFact]] = defaultdict(list)
    for chunk in chunks:
        if chunk.status == "current":
            by_hash[chunk.hash].append(chunk)
    groups = [group for group in by_hash.values() if len(group) > 1]
    found = (one for n, group in enumerate(groups, 1) for one in _copies_of(group, n))
    return _check(
        "copies",
        tr("Exact duplicates"),
        "warning",
        found,
        len(chunks),
        tr("Copies take places among the results. Retire what is not to be cited; shorten what repeats itself."),
    )


def _copies_of(group: Sequence[ChunkFact], number: int) -> Iterator[Finding]:
    """The first with how many there are; each other one with where the first stands."""
    first, *others = group
    head = _chunk(first, tr("{count} copies", count=len(group)), number)
    yield head
    for chunk in others:
        yield _chunk(chunk, tr("the same as {name}", name=head.name), number)


def document_copies(documents: Sequence[Document]) -> HealthCheck:
    """Current documents whose source is the same to the byte as an earlier one's."""
    first: dict[str, Document] = {}
    found: list[Finding] = []
    for document in documents:
        if document.status != "current":
            continue
        if document.hash in first:
            found.append(_document(document, tr("the same as {name}", name=first[document.hash].source_id)))
        first.setdefault(document.hash, document)
    return _check(
        "document-copies",
        tr("Documents that are copies of another"),
        "warning",
        found,
        len(documents),
        tr("Retire the copies: they stay listed, and no search finds them."),
        repair="retire",
    )


def near(groups: Sequence[NearGroup], chunks: Mapping[str, ChunkFact], of: int) -> HealthCheck:
    """Chunks that say nearly the same words."""
    found = (one for n, group in enumerate(groups, 1) for one in _alike(group, chunks, n))
    return _check(
        "near-duplicates",
        tr("Near-duplicates"),
        "warning",
        found,
        of,
        tr("Versions of one text compete. Retire what is outdated, or spread the results (MMR)."),
    )


def _alike(group: NearGroup, chunks: Mapping[str, ChunkFact], number: int) -> Iterator[Finding]:
    """As with copies; a member need not be near the first one, as near-duplicates come in chains."""
    first, *others = (chunks[name] for name in group.ids)
    share = f"{group.least:.0%}"
    head = _chunk(first, tr("{count} alike, {share} of the word runs", count=len(group.ids), share=share), number)
    yield head
    for chunk in others:
        yield _chunk(chunk, tr("in the group of {name}", name=head.name), number)


def unread(documents: Sequence[Document]) -> HealthCheck:
    """Current documents of which something could not be read as it was meant, by what was told at ingest."""
    found = (
        _document(d, retold(d.warnings[0]) + (f" (+{len(d.warnings) - 1})" if len(d.warnings) > 1 else ""))
        for d in documents
        if d.status == "current" and d.warnings
    )
    return _check(
        "warnings",
        tr("Read with a warning"),
        "warning",
        found,
        len(documents),
        tr("What could not be read can't be found or filtered. Mend the source and ingest it again."),
    )


def missing_metadata(documents: Sequence[Document]) -> HealthCheck:
    """Current documents without a date, a version, a time of validity or an owner."""

    def lacking(document: Document) -> str:
        missing = (n for n in EXPECTED_FIELDS if all(document.metadata.get(field) in (None, "") for field in n))
        return ", ".join(names[0] for names in missing)

    found = (
        _document(d, tr("no {fields}", fields=fields))
        for d in documents
        if d.status == "current" and (fields := lacking(d))
    )
    return _check(
        "metadata",
        tr("Metadata missing"),
        "note",
        found,
        len(documents),
        tr("Answers can't tell which version is newer. Edit the metadata, or give it at ingest (-m date=…)."),
    )


def outside_validity(documents: Sequence[Document], today: date) -> HealthCheck:
    """Current documents that are no longer, or not yet, valid."""
    found: list[Finding] = []
    for document in documents:
        if document.status != "current":
            continue
        start, end = (day_of(document.metadata.get(field)) for field in ("valid_from", "valid_to"))
        if end and end < today:
            found.append(_document(document, tr("valid until {day}", day=end)))
        elif start and start > today:
            found.append(_document(document, tr("valid from {day}", day=start)))
    return _check(
        "validity",
        tr("Not valid today"),
        "warning",
        found,
        len(documents),
        tr("Retire them, or set a mandatory filter on valid_from and valid_to."),
        repair="retire",
    )


def retired(documents: Sequence[Document]) -> HealthCheck:
    """Retired documents that keep their place in the index."""
    found = (
        _document(d, tr("chunks: {count}", count=d.chunks)) for d in documents if d.status == "retired" and d.chunks
    )
    return _check(
        "retired",
        tr("Retired and still indexed"),
        "note",
        found,
        len(documents),
        tr("No search returns them; they take room and can be restored at once. Delete those that won't come back."),
    )


def coverage(texts: Iterable[tuple[Document, str]], spans: Mapping[str, Sequence[tuple[int, int]]]) -> HealthCheck:
    """Documents with text that stands in no chunk; white space doesn't count.

    Args:
        spans: of each document's chunks, by document id.
    """
    found: list[Finding] = []
    documents = characters = covered = 0
    for document, text in texts:
        documents += 1
        inside = np.zeros(len(text) + 1, bool)
        for start, end in spans.get(document.id, ()):
            inside[start:end] = True
        solid = np.fromiter((not character.isspace() for character in text), bool, len(text))
        outside = solid & ~inside[: len(text)]
        total, left = int(solid.sum()), int(outside.sum())
        characters, covered = characters + total, covered + total - left
        place, gap = _longest_gap(outside, solid)
        if total and (left / total > 1 - _COVERED or gap >= _GAP):
            found.append(
                _document(
                    document,
                    tr(
                        "{share} in no chunk, the longest piece {gap} characters at {place}",
                        share=f"{left / total:.1%}",
                        gap=gap,
                        place=place,
                    ),
                )
            )
    share = covered / characters if characters else 1.0
    return _check(
        "coverage",
        tr("Text in no chunk"),
        "error",
        found,
        documents,
        tr("No search can find it. Cut these documents again, by their recipe: workbench doctor --fix"),
        repair="recut",
        measured=tr("{share} of the characters are in a chunk", share=f"{share:.2%}"),
    )


def _longest_gap(outside: npt.NDArray[np.bool_], solid: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """Start and length of the longest run of solid characters outside all chunks, white space passed over."""
    places = np.flatnonzero(solid)
    runs = outside[places]
    edges = np.flatnonzero(np.diff(np.concatenate(([0], runs.view(np.int8), [0]))))
    starts, ends = edges[::2], edges[1::2]
    if not starts.size:
        return 0, 0
    longest = int(np.argmax(ends - starts))
    return int(places[starts[longest]]), int(ends[longest] - starts[longest])


def unindexed(no_vector: Sequence[str], no_words: Sequence[str], chunks: Mapping[str, ChunkFact]) -> list[HealthCheck]:
    """Chunks that one of the lanes can't find."""
    return [
        _check(
            "vectors",
            tr("Chunks without a vector"),
            "error",
            (_chunk(chunks[c], tr("the dense lane misses it")) for c in no_vector if c in chunks),
            len(chunks),
            tr("Embed them: workbench doctor --fix"),
            repair="embed",
        ),
        _check(
            "words",
            tr("Chunks without a full-text row"),
            "error",
            (_chunk(chunks[c], tr("the lexical lane misses it")) for c in no_words if c in chunks),
            len(chunks),
            tr("Make the full-text table anew: workbench doctor --fix"),
            repair="words",
        ),
    ]


def strays(collection: str, count: int) -> HealthCheck:
    """Vectors and full-text rows of no chunk: ``count`` of them."""
    detail = tr("vectors and full-text rows of no chunk: {count}", count=count)
    return _check(
        "strays",
        tr("Rows that belong to no chunk"),
        "warning",
        [Finding("collection", collection, collection, detail)] if count else [],
        1,
        tr("They take places among the candidates of a search. Delete them: workbench doctor --fix"),
        repair="strays",
    )


def bad_rows(batches: VectorBatches) -> Iterator[tuple[str, float]]:
    """Chunks whose vector is zero, holds what is no number, or isn't of length 1; each with that length."""
    for ids, matrix in batches:
        norms = np.linalg.norm(matrix.astype(np.float64), axis=1)
        for place in np.flatnonzero(~(np.abs(norms - 1.0) <= _UNIT)).tolist():
            yield ids[place], float(norms[place])


def bad_vectors(batches: VectorBatches, chunks: Mapping[str, ChunkFact]) -> HealthCheck:
    """Vectors that are zero, hold what is no number, or aren't of length 1."""
    found = (
        _chunk(
            chunks[name],
            tr("length {norm}", norm=f"{norm:.3g}") if math.isfinite(norm) else tr("holds what is no number"),
        )
        for name, norm in bad_rows(batches)
        if name in chunks
    )
    return _check(
        "bad-vectors",
        tr("Zero or broken vectors"),
        "error",
        found,
        len(chunks),
        tr("They come first for any question, or never. Embed them anew: workbench doctor --fix"),
        repair="embed",
    )


def foreign_embedder(index: Index, installed: EmbedderInfo | None) -> HealthCheck:
    """The index was made by another embedder than the one that questions are embedded with."""
    made = index.embedder
    same = installed is not None and installed.fingerprint == made.fingerprint
    detail = (
        tr("made with {made}; none is installed", made=made.name)
        if installed is None
        else tr(
            "made with {made} ({print}); questions meet {used}",
            made=made.name,
            print=made.fingerprint[:8],
            used=installed.name,
        )
    )
    found = [] if same else [Finding("collection", index.collection, index.collection, detail)]
    return _check(
        "embedder",
        tr("Vectors of a foreign model"),
        "error",
        found,
        1,
        tr("The dense lane is off until they are the same: install that embedder, or build a new index with this one."),
    )


def mixed_languages(chunks: Sequence[ChunkFact], documents: Mapping[str, Document]) -> HealthCheck:
    """Documents with chunks in other languages than their own."""
    foreign: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for chunk in chunks:
        document = documents.get(chunk.document_id)
        if document and chunk.language and document.language and chunk.language != document.language:
            foreign[chunk.document_id][chunk.language] += 1
    found = (
        _document(
            documents[key],
            f"{documents[key].language} · " + ", ".join(f"{n} {language}" for language, n in other.most_common()),
        )
        for key, other in foreign.items()
    )
    return _check(
        "languages",
        tr("Mixed languages"),
        "note",
        found,
        len(documents),
        tr("An embedder may prefer passages in the question's language; a filter on language tells them apart."),
    )


def mixed_chunks(texts: Iterable[tuple[str, str]], chunks: Mapping[str, ChunkFact]) -> HealthCheck:
    """Chunks of which a good part is in another language than the rest.

    Args:
        texts: (chunk id, text).
    """

    def found() -> Iterator[Finding]:
        for name, text in texts:
            shares = languages(text)
            told = sum(shares.values())
            second = sorted(shares.values())[-2] if len(shares) > 1 else 0
            if name in chunks and second >= max(_SECOND_LEAST, _SECOND_SHARE * told):
                parts = (f"{language} {size / told:.0%}" for language, size in Counter(shares).most_common())
                yield _chunk(chunks[name], " · ".join(parts))

    return _check(
        "chunk-languages",
        tr("Several languages in one chunk"),
        "note",
        found(),
        len(chunks),
        tr("Its one vector stands between them. Smaller chunks, or a document for each language, keep them apart."),
    )


def damaged_encoding(texts: Iterable[tuple[Document, str]]) -> HealthCheck:
    """Documents with text that was decoded wrongly ("matrÃ­cula"), words that mix alphabets, or lost characters."""
    found: list[Finding] = []
    documents = 0
    for document, text in texts:
        documents += 1
        lost = text.count("\ufffd")
        lines = damaged_lines(text)
        if lines or lost:
            example = f"“{lines[0].strip()[:60]}”" if lines else ""
            told = tr("damaged lines: {lines}, lost characters: {lost}", lines=len(lines), lost=lost)
            found.append(_document(document, f"{told} {example}".rstrip()))
    return _check(
        "encoding",
        tr("Encoding damage"),
        "warning",
        found,
        documents,
        tr("Neither lane finds such words. Save the source as UTF-8, a PDF by another program, and ingest it again."),
    )


def changed_sources(documents: Sequence[Document], hashes: Mapping[str, str | None]) -> HealthCheck:
    """Documents whose source changed, or went, since it was ingested.

    Args:
        hashes: SHA-256 of what is on disk now by document id, None where nothing is; documents without one weren't
            read from a file.
    """
    found = [
        _document(d, tr("the source is gone") if hashes[d.id] is None else tr("the source has changed"))
        for d in documents
        if d.id in hashes and hashes[d.id] != d.hash
    ]
    return _check(
        "sources",
        tr("Sources changed since ingest"),
        "warning",
        found,
        len(hashes),
        tr("Ingest the changed ones again; retire or delete those that are gone."),
        repair="ingest",
    )


def day_of(value: object) -> date | None:
    """The day that a metadata value is, None where it is none."""
    if isinstance(value, datetime):
        return value.date()
    return value if isinstance(value, date) else None


def _chunk(chunk: ChunkFact, detail: str, group: int = 0) -> Finding:
    return Finding("chunk", chunk.id, f"{chunk.source_id} #{chunk.ordinal + 1}", detail, group, chunk.document_id)


def _document(document: Document, detail: str) -> Finding:
    return Finding("document", document.id, document.source_id, detail, document=document.id)


def _check(
    key: str,
    title: str,
    severity: Severity,
    found: Iterable[Finding],
    of: int,
    remedy: str,
    repair: Repair = "",
    measured: str = "",
) -> HealthCheck:
    every = iter(found)
    kept = tuple(islice(every, SHOWN))
    count = len(kept) + sum(1 for _ in every)
    return HealthCheck(key, title, severity, count, of, kept, remedy, repair if count else "", measured)
