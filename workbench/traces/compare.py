"""Two traces side by side, and what could have made them differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from workbench.answers.context import ordered
from workbench.answers.manifest import flat
from workbench.evals.measuring.compare import causes
from workbench.i18n import tr
from workbench.records.answers import Answer, Evidence, Trace
from workbench.records.codec import encode
from workbench.records.retrieval import Transformed
from workbench.records.traces import Difference, TraceComparison
from workbench.traces.fates import Fate, Fates
from workbench.traces.stages import evidence_of, final_hits, moves, settled

_UNKNOWN: Final[Fates] = {}
_NAMED: Final = 8
"""Documents that a reason names before it counts them."""


def compare_traces(a: Trace, b: Trace, sources: Mapping[str, str], fates: Fates = _UNKNOWN) -> TraceComparison:
    """What differs between two traces, ``a`` the earlier one, and what could have caused it.

    Args:
        sources: source_id by chunk id, for the chunks that are still there.
        fates: what became of the collection's documents in between.

    Raises:
        UsageError: the settings of one of them can't be read.
    """
    ranked = _ranking(a), _ranking(b)
    shown = _shown(a), _shown(b)
    known = {**sources, **{piece.chunk_id: piece.source_id for pieces in shown for piece in pieces}}
    differences = _differences(a, b)
    same_evidence = [(p.chunk_id, p.text) for p in shown[0]] == [(p.chunk_id, p.text) for p in shown[1]]
    same_answer = _said(a.answer) == _said(b.answer)
    same = ranked[0] == ranked[1] and same_evidence and same_answer
    return TraceComparison(
        a=a.id,
        b=b.id,
        questions=(a.query, b.query),
        answers=(a.answer, b.answer),
        differences=differences,
        reasons=_reasons(a, b, differences, fates, same),
        ranking=moves(ranked[0], ranked[1], known),
        evidence=moves([p.chunk_id for p in shown[0]], [p.chunk_id for p in shown[1]], known),
        same_ranking=ranked[0] == ranked[1],
        same_evidence=same_evidence,
        same_answer=same_answer,
    )


def _ranking(trace: Trace) -> list[str]:
    return [hit.chunk_id for hit in final_hits(trace)]


def _shown(trace: Trace) -> tuple[Evidence, ...]:
    ask, _ = settled(trace)
    return ordered(evidence_of(trace), ask.order)


def _said(answer: Answer | None) -> object:
    return None if answer is None else (answer.outcome, answer.text)


def _differences(a: Trace, b: Trace) -> tuple[Difference, ...]:
    """Settings that only one of them has stand at their default in the other, so these are read first."""
    one, other = _told(a), _told(b)
    return tuple(
        Difference(name, _text(one.get(name)), _text(other.get(name)))
        for name in causes(one, other)
        if name != "search.collection"
    )


def _told(trace: Trace) -> dict[str, object]:
    ask, search = settled(trace)
    read = {f"{prefix}.{name}": value for prefix, o in (("ask", ask), ("search", search)) for name, value in _of(o)}
    return flat(trace.manifest) | read


def _of(options: object) -> list[tuple[str, object]]:
    return [(name, _plain(value)) for name, value in encode(options).items() if name != "type"]


def _plain(value: object) -> object:
    """Tuples as a manifest writes them: "lexical dense", "lexical=0.5 dense=0.5"."""
    if not isinstance(value, list):
        return value
    return " ".join("=".join(map(str, one)) if isinstance(one, list) else str(one) for one in value)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _reasons(a: Trace, b: Trace, differences: tuple[Difference, ...], fates: Fates, same: bool) -> tuple[str, ...]:
    """The likeliest first: another question or collection, then documents, index, model, settings, versions."""
    told = {difference.name: difference for difference in differences}
    found = [] if a.query == b.query else [tr("Another question was asked.")]
    sentences = {
        "collection": tr("Another collection was asked: {before} → {after}."),
        "collection_version": tr("The documents have changed since: version {before} of the collection → {after}.")
        if fates
        else tr("The collection's version is another, {before} → {after}, but no document is known to differ."),
        "recipe": tr("The documents were cut otherwise: {before} → {after}."),
        "embedder": tr("Another embedder made the vectors: {before} → {after}."),
        "embedder_fingerprint": tr("The embedder has the same name and other files: {before} → {after}."),
        "index_id": tr("The index was made anew: {before} → {after}."),
        "model": tr("Another model wrote: {before} → {after}."),
        "model_hash": tr("The model has the same name and another file: {before} → {after}."),
    }
    for name, sentence in sentences.items():
        if change := told.pop(name, None):
            found.append(sentence.format(before=_shortly(change.before), after=_shortly(change.after)))
    found += _of_documents(fates)
    found += _transforms_lost(a, b)
    settings = [d for d in told.values() if not d.name.startswith("versions.") and d.name != "workbench"]
    versions = [d for d in told.values() if d not in settings]
    for names, group in ((tr("Settings differ: {changes}."), settings), (tr("Versions differ: {changes}."), versions)):
        if group:
            changes = ", ".join(f"{d.name} {d.before or '–'} → {d.after or '–'}" for d in group)
            found.append(names.format(changes=changes))
    if not found:
        found.append(
            tr("Nothing differs: the same question meets the same documents, and gets the same answer.")
            if same
            else tr("Nothing that is recorded differs: what a model writes may vary, or a document's status changed.")
        )
    return tuple(found)


def _of_documents(fates: Fates) -> list[str]:
    told: dict[Fate, str] = {
        "anew": tr("The collection was deleted and made anew since: {sources}."),
        "added": tr("Added since: {sources}."),
        "changed": tr("Changed since: {sources}."),
        "gone": tr("Gone since: {sources}."),
        "again": tr("Deleted and ingested again since: {sources}."),
        "retired": tr("Retired since: {sources}."),
        "restored": tr("Restored since: {sources}."),
        "metadata": tr("Only the metadata changed since: {sources}."),
    }
    return [sentence.format(sources=_first(fates[fate])) for fate, sentence in told.items() if fate in fates]


def _first(sources: tuple[str, ...]) -> str:
    """The first names, and how many more there are."""
    shown, more = ", ".join(sources[:_NAMED]), len(sources) - _NAMED
    return tr("{sources} and {count} more", sources=shown, count=f"{more:,}") if more > 0 else shown


def _transforms_lost(a: Trace, b: Trace) -> list[str]:
    """What changed the question in ``a`` and did nothing in ``b``, with the reason where one is told."""
    before, after = ({s.output.kind: s.output for s in t.spans if isinstance(s.output, Transformed)} for t in (a, b))
    lost = [
        f"{kind} ({why})" if (why := after[kind].skipped if kind in after else "") else kind
        for kind, made in before.items()
        if kind != "retry" and not made.skipped and (kind not in after or after[kind].skipped)
    ]
    return [tr("Transformations of the question were lost: {names}.", names=", ".join(lost))] if lost else []


def _shortly(value: str) -> str:
    """A name; the beginning of a hash."""
    return value[:8] if len(value) == 64 else value or "–"
