"""Commands that look closely at chunks: which there are, what cuts take apart, what is known of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import click

from workbench.cli.display import StatusLine, print_json, print_table, say, stoppable
from workbench.cli.front import FrontEnds
from workbench.desk import Desk
from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.lenses.told import column_words, flag_words, group_mark, kind_words
from workbench.records.codec import encode
from workbench.records.corpus import Chunk
from workbench.records.lenses import (
    FLAG_KINDS,
    DocumentFlags,
    Exposure,
    Flag,
    Likeness,
    Neighbourhood,
    PieceLens,
    Usage,
    WordLens,
)

_TOLD: Final = 20


@click.command()
@click.argument("document", default="")
@click.option("--flags", is_flag=True, help="What the cuts between chunks take apart.")
@click.option("--hubs", is_flag=True, help="Chunks that many questions find, and how many no question finds.")
@click.option("--never", is_flag=True, help="Chunks that no stored question and no evaluation case has found.")
@click.option("-k", "depth", type=click.IntRange(1, 50), default=10, help="Ranks that count as found [10].")
@click.option("--limit", type=click.IntRange(1), default=_TOLD, help="Rows that are printed at most [20].")
@click.option("--collection", "-c", default="", help="Of which collection [the chosen one].")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def chunks(
    front: FrontEnds,
    document: str,
    flags: bool,
    hubs: bool,
    never: bool,
    depth: int,
    limit: int,
    collection: str,
    as_json: bool,
) -> None:
    """Lists the chunks of a document; or what cuts take apart, and who finds what, in a whole collection."""
    with front.desk("read") as desk:
        if flags:
            _flags(desk, document, collection, limit, as_json=as_json)
        elif hubs or never:
            _exposure(desk.lenses.exposure(collection or desk.collection, depth), limit, never=never, as_json=as_json)
        elif document:
            [found] = desk.find_documents([document], collection)
            _list(desk.chunks(found.id), limit, as_json=as_json)
        else:
            raise UsageError(
                tr("Which chunks?"),
                tr("Name a document, or ask with --flags, --hubs or --never about the whole collection."),
                tr("workbench documents lists the documents."),
            )


def _list(found: Sequence[Chunk], limit: int, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    _table_of(found[:limit])
    _rest(len(found), limit)


def _table_of(found: Sequence[Chunk], *, sources: bool = False) -> None:
    """A row each; with ``sources``, of several documents."""
    head = (*((tr("source"),) if sources else ()), "#", "id", "§", tr("tokens"), "", tr("text"))
    rows = [
        (
            *((c.source_id,) if sources else ()),
            str(c.ordinal + 1),
            c.id,
            " › ".join(c.heading[-1:]),
            str(c.tokens),
            "✂" if c.truncated else "",
            _beginning(c),
        )
        for c in found
    ]
    print_table(head, rows, right=tuple(place + sources for place in (0, 3)))


def _beginning(chunk: Chunk) -> str:
    return " ".join(chunk.text[:200].split())


def _rest(there: int, limit: int) -> None:
    if there > limit:
        say(tr("… and {count} more (--limit).", count=f"{there - limit:,}"), dim=True)


def _flags(desk: Desk, document: str, collection: str, limit: int, *, as_json: bool) -> None:
    name = collection or desk.collection
    if document:
        found = [desk.lenses.document_flags(d) for d in desk.find_documents([document], collection)]
    else:
        line, found = StatusLine(), []
        with stoppable() as stop:
            for one in desk.lenses.flags(name, stop):
                found.append(one)
                line.say(tr("{count} documents looked at", count=f"{len(found):,}"))
        line.clear()
    if as_json:
        print_json(found)
        return
    _count_flags(found, limit)
    warnings = [flag for one in found for flag in one.warnings]
    if warnings:
        say("")
        head = (tr("source"), "#", tr("what is cut"), tr("chunk"), tr("next"))
        print_table(head, [_flag_row(flag) for flag in warnings[:limit]], right=(1,))
        _rest(len(warnings), limit)


def _count_flags(found: Sequence[DocumentFlags], limit: int) -> None:
    """A row per document that has any, and the sum."""
    head = (tr("source"), tr("chunks"), *(kind_words(kind) for kind in FLAG_KINDS), tr("notes"))
    ranked = sorted((one for one in found if one.flags), key=lambda one: -len(one.warnings))
    rows = [_counted(one.source_id, one.chunks, one.flags) for one in ranked[:limit]]
    flags = [flag for one in found for flag in one.flags]
    rows.append(_counted(tr("documents: {count}", count=f"{len(found):,}"), sum(one.chunks for one in found), flags))
    print_table(head, rows, right=tuple(range(1, len(head))))
    _rest(len(ranked), limit)


def _counted(name: str, chunks: int, flags: Sequence[Flag]) -> tuple[str, ...]:
    kinds = Counter(flag.kind for flag in flags if flag.weight == "warning")
    notes = sum(flag.weight == "note" for flag in flags)
    return (name, f"{chunks:,}", *(f"{kinds[kind]:,}" if kinds[kind] else "–" for kind in FLAG_KINDS), f"{notes:,}")


def _flag_row(flag: Flag) -> tuple[str, ...]:
    return (flag.source_id, str(flag.ordinal + 1), kind_words(flag.kind), flag.chunk_id, flag.next_id)


def _exposure(found: Exposure, limit: int, *, never: bool, as_json: bool) -> None:
    if as_json:
        print_json(replace(found, counts={}))
        return
    if not found.questions:
        of = {"collection": found.collection, "chunks": f"{found.chunks:,}"}
        say(tr("Nothing was asked of {collection} yet: who finds which of its {chunks} chunks can't be told.", **of))
        return
    lopsided = "–" if found.skewness is None else f"{found.skewness:.1f}"
    say(
        tr(
            "Questions asked of {collection}: {questions}. Chunks never found in the first {k} ranks: {never} of "
            "{chunks}; skewness of N_k {skewness}, the most {most}.",
            questions=f"{found.questions:,}",
            collection=found.collection,
            k=found.k,
            never=f"{found.never:,}",
            chunks=f"{found.chunks:,}",
            skewness=lopsided,
            most=f"{found.most:,}",
        )
    )
    if never:
        _table_of(found.unfound[:limit], sources=True)
        _rest(found.never, limit)
        return
    head = (tr("questions"), tr("source"), "#", "id", tr("text"))
    rows = [
        (
            f"{o.questions:,}",
            o.chunk.source_id,
            str(o.chunk.ordinal + 1),
            o.chunk.id,
            _beginning(o.chunk),
        )
        for o in found.hubs[:limit]
    ]
    print_table(head, rows, right=(0, 2))
    _rest(found.chunks - found.never, limit)


@click.command()
@click.argument("chunk_id")
@click.option("--tokens", "query", is_flag=False, flag_value="", default=None, metavar="[QUERY]",
              help="Its words as they are indexed, those of a question beside them, and its pieces.")  # fmt: skip
@click.option("--used-by", is_flag=True, help="Which questions and cases found it, and which should.")
@click.option("--like", is_flag=True, help="The chunks nearest to it by their vectors; near-duplicates are grouped.")
@click.option("--neighbours", is_flag=True, help="The chunks around it, and what the cuts between them take apart.")
@click.option("--limit", type=click.IntRange(1), default=_TOLD, help="Rows that are printed at most [20].")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def chunk(
    front: FrontEnds,
    chunk_id: str,
    query: str | None,
    used_by: bool,
    like: bool,
    neighbours: bool,
    limit: int,
    as_json: bool,
) -> None:
    """Shows a chunk, by its id or the beginning of it."""
    with front.desk("read") as desk:
        found, lenses = desk.chunk(chunk_id), desk.lenses
        told: dict[str, object] = {}
        if as_json:
            known = desk.browser.facts(found)
        else:
            _heading(found)
        if query is not None:
            told |= {"words": lenses.words(found, query), "pieces": lenses.pieces(found)}
        if used_by:
            told["used_by"] = lenses.usage(found)
        if like:
            told["like"] = lenses.like(found, limit)
        if neighbours:
            told["neighbours"] = lenses.around(found)
    if as_json:
        whole = encode(found) | {"document_metadata": known.document.metadata, "indexes": known.placements}
        print_json({"chunk": whole, **told} if told else whole)
        return
    if not told:
        say(found.indexed_text)
    for one in told.values():
        say("")
        _tell(one, limit)


def _heading(found: Chunk) -> None:
    place = " › ".join((found.source_id, *found.heading))
    say(f"{found.id}  {place}  #{found.ordinal + 1}", bold=True, newlines=False)


def _tell(one: object, limit: int) -> None:
    match one:
        case WordLens():
            _words(one, limit)
        case PieceLens():
            _pieces(one)
        case Usage():
            _usage(one, limit)
        case Likeness():
            _likeness(one)
        case Neighbourhood():
            _neighbourhood(one)


def _words(lens: WordLens, limit: int) -> None:
    if lens.query:
        head = (tr("asked for"), tr("in"), tr("chunks"), "idf", tr("score here"))
        rows = [(w.word, column_words(w.columns), f"{w.chunks:,}", f"{w.idf:.2f}", _score(w.score)) for w in lens.asked]
        print_table(head, rows, right=(2, 3, 4))
        say(tr("BM25 of this chunk: {score}", score=f"{lens.score:.2f}"))
        if lens.dropped:
            say(tr("Not asked for: {words}", words=", ".join(lens.dropped)), dim=True)
        say("")
    head = (tr("word"), tr("in"), tr("here"), tr("chunks"), "idf")
    rarest = sorted(lens.words, key=lambda w: -w.idf)[:limit]
    rows = [(w.word, column_words(w.column), str(w.count), f"{w.chunks:,}", f"{w.idf:.2f}") for w in rarest]
    print_table(head, rows, right=(2, 3, 4))
    _rest(len(lens.words), limit)


def _score(value: float) -> str:
    return f"{value:.2f}" if value else "–"


def _pieces(lens: PieceLens) -> None:
    print_table(
        (tr("tokenizer"), tr("tokens"), ""), [(c.tokenizer, f"{c.tokens:,}", c.note) for c in lens.counts], right=(1,)
    )
    if lens.reason:
        say(lens.reason)
        return
    say("·".join(lens.text[a:b] or "▁" for a, b in lens.pieces[: lens.read]))
    if lens.cut is not None:
        say(tr("✂ The embedder stops here: {count} of {all} pieces are read.", count=lens.read, all=len(lens.pieces)))
        say("·".join(lens.text[a:b] or "▁" for a, b in lens.pieces[lens.read :]), dim=True)


def _usage(used: Usage, limit: int) -> None:
    rows = [(str(t.rank), f"{t.created:%Y-%m-%d %H:%M}", t.trace_id, t.question) for t in used.traces]
    title = tr("Stored questions that found it: {count}", count=f"{len(rows):,}")
    _titled(title, (tr("rank"), tr("when"), tr("trace"), tr("question")), rows, limit, right=(0,))
    rows = [(str(c.rank), str(c.run_id), c.dataset, c.case_id) for c in used.cases]
    title = tr("Cases of evaluation runs that found it: {count}", count=f"{len(rows):,}")
    _titled(title, (tr("rank"), tr("run"), tr("dataset"), tr("case")), rows, limit, right=(0, 1))
    gold = [(str(g.grade), _number(g.rank), _number(g.run_id), g.dataset, g.case_id, g.question) for g in used.gold]
    title = tr("Cases that it is gold of: {count}", count=f"{len(gold):,}")
    head = (tr("grade"), tr("rank"), tr("run"), tr("dataset"), tr("case"), tr("question"))
    _titled(title, head, gold, limit, right=(0, 1, 2))


def _titled(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], limit: int, right: Sequence[int]) -> None:
    say(title, bold=True)
    if rows:
        print_table(head, rows[:limit], right=right)
        _rest(len(rows), limit)


def _number(value: int | None) -> str:
    return "–" if value is None else str(value)


def _likeness(found: Likeness) -> None:
    if found.reason:
        say(found.reason)
        return
    rows = [
        (
            f"{n.cosine:.3f}",
            group_mark(n, found),
            n.chunk.source_id,
            str(n.chunk.ordinal + 1),
            n.chunk.id,
            _beginning(n.chunk),
        )
        for n in found.near
    ]
    print_table((tr("cosine"), "", tr("source"), "#", "id", tr("text")), rows, right=(0, 3))


def _neighbourhood(found: Neighbourhood) -> None:
    for place, one in enumerate(found.chunks):
        shared = found.overlaps[place]
        mark = "▸" if place == found.at else " "
        say(f"{mark} #{one.ordinal + 1}  {one.id}", bold=True)
        if shared:
            say(one.text[:shared], dim=True)
        say(one.text[shared:])
        for flag in found.flags:
            if flag.chunk_id == one.id:
                say(f"⚑ {flag_words(flag)}")
        say("")


COMMANDS = (chunks, chunk)
