"""The lenses on a real file: words as SQLite cut them, pieces, who found a chunk, what is like it."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from storage import open_store
from storage.driver import connect
from storage.migrations import MIGRATIONS, migrate
from storage.store import FileStore
from tests.embedders import HashEmbedder, model_tokenizer
from tests.ingest.conftest import Bench
from tests.ingest.conftest import bench as empty
from tests.storage.test_records import MANIFEST
from workbench.errors import Cancelled, NotFoundError
from workbench.lenses import Lenses
from workbench.lenses.exposure import skewness
from workbench.ports import Cancel, Embedder
from workbench.records.answers import Trace, TraceSpan
from workbench.records.cases import Case, GoldSpan
from workbench.records.corpus import Chunk, Recipe
from workbench.records.evals import CaseResult, Ranked, RunConfig
from workbench.records.retrieval import FusedHit, FusionResult, RerankedHit, RerankResult

__all__ = ["empty"]

RULES = """# Matrícula

El año empieza en septiembre. El plazo de matrícula dura un mes.

# Fees

Cards cost 12 euros.
"""
OTHER = "# Loans\n\nBooks are lent for thirty days, and cards are needed.\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with both documents, ingested once."""
    folder = tmp_path_factory.mktemp("made")
    sources = folder / "sources"
    sources.mkdir()
    store = open_store(folder / "w.db")
    both = Bench(store, sources)
    both.write("a.md", RULES)
    both.write("b.md", OTHER)
    both.ingest(recipe=Recipe(size=12))
    store.close()
    return folder


@pytest.fixture
def bench(made: Path, tmp_path: Path) -> Iterator[Bench]:
    """A copy of it."""
    shutil.copytree(made, tmp_path / "copy")
    store = open_store(tmp_path / "copy" / "w.db")
    yield Bench(store, tmp_path / "copy" / "sources")
    store.close()


@pytest.fixture
def lenses(bench: Bench) -> Lenses:
    return look(bench, bench.embedder)


def look(bench: Bench, embedder: Embedder | None) -> Lenses:
    return Lenses(bench.store, lambda _index: embedder, lambda: None)


def chunks(bench: Bench) -> list[Chunk]:
    return [c for d in bench.store.corpus.documents("c") for c in bench.store.corpus.chunks(d.id)]


def holding(bench: Bench, word: str) -> Chunk:
    return next(c for c in chunks(bench) if word in c.text)


def ask(bench: Bench, trace_id: str, question: str, ids: Sequence[str], reranked: Sequence[str] = ()) -> Trace:
    """A stored question whose ranking is ``ids``, reranked after that where ``reranked`` is given."""
    fused = tuple(FusedHit(name, rank, 1.0 / rank) for rank, name in enumerate(ids, 1))
    spans = [TraceSpan("fusion", 0.0, 1.0, FusionResult("rrf", 60, (), fused, 1.0))]
    if reranked:
        hits = tuple(RerankedHit(name, ids.index(name) + 1, rank, 0.5) for rank, name in enumerate(reranked, 1))
        spans.append(TraceSpan("rerank", 1.0, 1.0, RerankResult("late", len(reranked), hits, 1.0)))
    manifest = replace(MANIFEST, collection="c")
    trace = Trace(trace_id, datetime(2026, 3, 1, tzinfo=UTC), question, manifest, tuple(spans), complete=True)
    bench.store.traces.save(trace)
    return trace


def run(bench: Bench, found: dict[str, Sequence[str]], version: str = "h") -> int:
    manifest = replace(MANIFEST, collection="c")
    made = bench.store.runs.create(RunConfig("set"), version, manifest, len(found))
    for place, (case_id, ids) in enumerate(found.items()):
        ranked = tuple(Ranked(name, "a.md", 0, 1, rank) for rank, name in enumerate(ids, 1))
        bench.store.runs.put_result(CaseResult(made.id, case_id, place, True, ranked=ranked))
    return made.id


# -- boundaries ----------------------------------------------------------------------------------------------------


def test_around_a_chunk_are_its_neighbours_in_order(bench: Bench, lenses: Lenses) -> None:
    everything = [c for c in chunks(bench) if c.source_id == "a.md"]
    assert len(everything) >= 3
    found = lenses.around(everything[1], reach=1)
    assert [c.id for c in found.chunks] == [c.id for c in everything[:3]]
    assert found.chunks[found.at].id == everything[1].id


def test_the_next_flag_goes_round_the_collection_and_passes_over_notes(empty: Bench) -> None:
    for name in ("x.txt", "z.txt"):
        empty.write(name, "One two three four five six seven eight nine ten eleven twelve thirteen fourteen. " * 3)
    empty.write("y.txt", "Short.")
    empty.ingest(recipe=Recipe("window", size=20))
    lenses = look(empty, None)
    flags = [flag for one in lenses.flags("c") for flag in one.warnings]
    assert {flag.source_id for flag in flags} == {"x.txt", "z.txt"}
    visited, at = [], None
    for _ in range(len(flags) + 1):
        flag = lenses.next_flag("c", at)
        assert flag
        visited.append((flag.source_id, flag.ordinal))
        at = empty.store.corpus.chunks_by_id([flag.chunk_id])[0]
    once = list(dict.fromkeys((flag.source_id, flag.ordinal) for flag in flags))
    assert visited == [*once, *once][: len(visited)]


def test_a_document_that_changed_is_looked_at_anew(bench: Bench, lenses: Lenses) -> None:
    def flags() -> list[str]:
        return [flag.kind for one in lenses.flags("c") for flag in one.flags if one.source_id == "c.txt"]

    bench.write("c.txt", "Short.")
    bench.ingest()
    assert flags() == []
    bench.write("c.txt", "Books and films and maps are lent for thirty days or for as long as anybody wants them.")
    bench.ingest()
    assert set(flags()) == {"sentence"}


def test_counting_flags_stops_when_asked(lenses: Lenses) -> None:
    stop = Cancel()
    stop.set()
    with pytest.raises(Cancelled):
        list(lenses.flags("c", stop))


# -- words and pieces ----------------------------------------------------------------------------------------------


def test_words_are_those_of_the_index_with_their_frequency(bench: Bench, lenses: Lenses) -> None:
    found = lenses.words(holding(bench, "El año"))
    by_column = {(w.column, w.word): w for w in found.words}
    assert by_column["text", "ano"].count == 1, "SQLite folds accents"
    assert by_column["exact", "xa00f1o"].chunks == 1, "and the exact column keeps them apart"
    assert ("stems", "empiez") in by_column
    assert ("text", "card") not in by_column
    n = by_column["text", "ano"].chunks
    assert by_column["text", "ano"].idf == pytest.approx(max(1e-6, math.log((found.total - n + 0.5) / (n + 0.5))))


def test_words_follow_what_comes_in(bench: Bench, lenses: Lenses) -> None:
    def cards() -> int:
        return next(w.chunks for w in lenses.words(holding(bench, "Cards cost")).words if w.word == "cards")

    before = cards()
    bench.write("c.md", "Cards are lost now and then.\n")
    bench.ingest(recipe=Recipe(size=12))
    assert cards() == before + 1


def test_the_words_of_a_question_add_up_to_the_score_of_the_lexical_lane(bench: Bench, lenses: Lenses) -> None:
    from workbench.records.retrieval import AllOf
    from workbench.retrieval.analysis import analyse

    chunk, question = holding(bench, "Cards cost"), "How many euros do the cards cost?"
    found = lenses.words(chunk, question)
    index = bench.store.corpus.current_index("c")
    assert index
    hits = {h.chunk_id: h.score for h in bench.store.search.lexical(index, analyse(question), AllOf(()), 10)}
    assert found.score == pytest.approx(hits[chunk.id])
    assert {w.word for w in found.asked if w.score > 0} >= {"cards", "cost", "euros"}
    assert "How" in found.dropped
    assert lenses.words(holding(bench, "El año"), question).score == 0


@pytest.mark.parametrize("query", ['"', "C++ (a-b) x:y * OR", "¿?", "\x00", "日本語"])
def test_any_text_is_a_question(bench: Bench, lenses: Lenses, query: str) -> None:
    assert lenses.words(chunks(bench)[0], query).score >= 0


def test_two_indexes_have_their_own_words(bench: Bench, lenses: Lenses) -> None:
    first = lenses.words(holding(bench, "El año"))
    second = lenses.words(holding(bench, "Books"))
    assert {w.word for w in second.words if w.column == "text"} >= {"books", "lent"}
    assert not {w.word for w in first.words if w.column == "text"} & {"books", "lent"}


def test_pieces_lie_in_the_text_and_tell_where_the_embedder_stops(bench: Bench, lenses: Lenses) -> None:
    chunk = holding(bench, "El año")
    found = lenses.pieces(chunk)
    assert found.reason == ""
    assert [found.text[a:b] for a, b in found.pieces][:2] == ["El", "año"]
    assert len(found.pieces) + found.added == chunk.tokens == found.counts[0].tokens
    assert found.cut is None
    short = replace(found, limit=found.added + 3)
    assert short.read == 3
    assert short.text[: short.cut].endswith(short.text[short.pieces[2][0] : short.pieces[2][1]])


def test_without_the_indexs_embedder_counts_stay_and_the_reason_is_told(bench: Bench, lenses: Lenses) -> None:
    chunk = chunks(bench)[0]
    none = look(bench, None).pieces(chunk)
    assert none.pieces == ()
    assert "hash, which the index was made with, isn't installed" in none.reason
    assert none.counts[0].tokens == chunk.tokens


@pytest.mark.model
def test_pieces_of_a_real_embedder_tell_each_character_once(bench: Bench) -> None:
    embedder = HashEmbedder()
    embedder.tokenizer = model_tokenizer()  # type: ignore[assignment]  # another tokenizer in its place
    found = look(bench, embedder).pieces(holding(bench, "El año"))
    assert "".join(found.text[a:b] for a, b in found.pieces) == "".join(found.text.split())
    assert len(found.pieces) == model_tokenizer().count(found.text)


# -- who found it --------------------------------------------------------------------------------------------------


def test_a_stored_question_is_found_by_the_rank_it_was_shown_at(bench: Bench, lenses: Lenses) -> None:
    a, b, c = (chunk.id for chunk in chunks(bench)[:3])
    ask(bench, "t1", "plain", [a, b, c])
    ask(bench, "t2", "reranked", [a, b, c], [c, a])
    ranks = {use.question: use.rank for use in lenses.usage(chunks(bench)[2]).traces}
    assert ranks == {"plain": 3, "reranked": 1}
    ranks = {use.question: use.rank for use in lenses.usage(chunks(bench)[0]).traces}
    assert ranks == {"plain": 1, "reranked": 2}


def test_saving_again_and_deleting_follow(bench: Bench, lenses: Lenses) -> None:
    a, b = (chunk.id for chunk in chunks(bench)[:2])
    ask(bench, "t1", "plain", [a])
    ask(bench, "t1", "plain", [b])
    assert lenses.usage(chunks(bench)[0]).traces == ()
    assert len(lenses.usage(chunks(bench)[1]).traces) == 1
    bench.store.traces.delete("t1")
    assert lenses.usage(chunks(bench)[1]).traces == ()


def test_ranks_are_kept_down_to_the_depth_that_is_told(bench: Bench, lenses: Lenses) -> None:
    chunk = chunks(bench)[0]
    depth = lenses.usage(chunk).depth
    others = [f"other {n}" for n in range(depth)]
    ask(bench, "t1", "within", [*others[:-1], chunk.id])
    ask(bench, "t2", "below", [*others, chunk.id])
    assert [(use.question, use.rank) for use in lenses.usage(chunk).traces] == [("within", depth)]


def test_cases_and_gold_with_their_rank_in_the_newest_run(bench: Bench, lenses: Lenses) -> None:
    chunk, other = holding(bench, "Cards cost"), holding(bench, "El año")
    gold = GoldSpan("a.md", chunk.start, chunk.end, 3)
    bench.store.datasets.put("set", "c", [Case("q1", "What do cards cost?", gold=(gold,)), Case("q2", "Else?")])
    [missing] = lenses.usage(chunk).gold
    assert (missing.case_id, missing.grade, missing.run_id, missing.rank) == ("q1", 3, None, None)
    run(bench, {"q1": [chunk.id]})
    newest = run(bench, {"q1": [other.id, chunk.id], "q2": [other.id]})
    used = lenses.usage(chunk)
    assert [(use.run_id, use.case_id, use.rank) for use in used.cases] == [(newest, "q1", 2), (newest - 1, "q1", 1)]
    assert [(g.case_id, g.run_id, g.rank) for g in used.gold] == [("q1", newest, 2)]
    assert lenses.usage(other).gold == ()
    run(bench, {"q2": [other.id]})  # a sample without the case says nothing of it
    assert [(g.run_id, g.rank) for g in lenses.usage(chunk).gold] == [(newest, 2)]
    bench.store.runs.delete(newest)
    assert [use.run_id for use in lenses.usage(chunk).cases] == [newest - 1]


def test_hubs_count_different_questions_and_the_rest_was_never_found(bench: Bench, lenses: Lenses) -> None:
    ids = [chunk.id for chunk in chunks(bench)]
    ask(bench, "t1", "one", ids[:2])
    ask(bench, "t2", "one", ids[:2])
    ask(bench, "t3", "two", [ids[1], ids[0]])
    run(bench, {"q1": [ids[1]]})
    run(bench, {"q1": [ids[1]]})
    found = lenses.exposure("c", k=1)
    assert found.questions == 3
    assert {o.chunk.id: o.questions for o in found.hubs} == {ids[0]: 1, ids[1]: 2}
    assert found.never == len(ids) - 2
    assert [c.id for c in found.unfound] == ids[2:]
    assert lenses.exposure("c", k=2).counts[ids[0]] == 2
    gone = bench.store.corpus.chunks_by_id([ids[-1]])[0].document_id
    bench.store.corpus.set_status([gone], "retired")
    left = [c.id for c in chunks(bench) if c.document_id != gone]
    assert list(lenses.exposure("c", k=1).counts) == left, "no search can find what is retired"


def test_skewness_is_the_third_standardised_moment() -> None:
    counts = [0, 0, 0, 1, 9]
    mean, spread = np.mean(counts), np.std(counts)
    assert skewness(counts) == pytest.approx(np.mean([((n - mean) / spread) ** 3 for n in counts]))
    assert skewness([1, 2, 3]) == pytest.approx(0)
    assert skewness([2, 2]) is None
    assert skewness([]) is None


def test_rankings_of_an_older_file_are_filled_in(tmp_path: Path) -> None:
    path = tmp_path / "older.db"
    older = connect(path, "create")
    migrate(older, path, MIGRATIONS[: [m.name for m in MIGRATIONS].index("0020_trace_hits")])
    hits = [{"chunk_id": "c1", "rank": 4}, {"chunk_id": "", "rank": 5}]
    body = json.dumps({"spans": [{"name": "fusion", "output": {"hits": hits}}]})
    older.execute("INSERT INTO trace VALUES (1, 't', '2026-03-01T12:00:00+00:00', 'Why?', 'c', '', 0, 1, ?)", (body,))
    older.close()
    store = open_store(path)
    assert isinstance(store, FileStore)
    assert [(use.question, use.rank) for use in store.lenses.trace_uses("c1")] == [("Why?", 4)]
    assert store.lenses.trace_uses("") == ()
    store.close()


# -- like this -----------------------------------------------------------------------------------------------------


def test_the_nearest_are_those_of_a_full_comparison(bench: Bench, lenses: Lenses) -> None:
    chunk = chunks(bench)[0]
    index = bench.store.corpus.current_index("c")
    assert index
    vectors = bench.store.search.vectors(index.id, [c.id for c in chunks(bench)])
    expected = sorted(((float(vectors[chunk.id] @ v), n) for n, v in vectors.items() if n != chunk.id), reverse=True)
    found = look(bench, None).like(chunk, 3)
    assert [n.chunk.id for n in found.near] == [name for _, name in expected[:3]]
    assert [n.cosine for n in found.near] == pytest.approx([cosine for cosine, _ in expected[:3]], abs=1e-5)


def test_near_duplicates_share_a_number_and_copies_are_told(empty: Bench) -> None:
    text = "The enrolment office opens on the third of September at nine in the morning, and closes at five o'clock."
    empty.write("a.txt", text)
    empty.write("b.txt", text)
    empty.write("c.txt", text + " Always.")
    empty.write("d.txt", "Books are lent for thirty days, twice as long for those who teach.")
    empty.ingest()
    first = next(c for c in chunks(empty) if c.source_id == "a.txt")
    found = look(empty, None).like(first)
    told = {n.chunk.source_id: (n.group, n.copy) for n in found.near}
    assert told == {"b.txt": (1, True), "c.txt": (1, False), "d.txt": (0, False)}
    assert found.group == 1


def test_a_chunk_that_is_gone_says_so(bench: Bench, lenses: Lenses) -> None:
    chunk = chunks(bench)[0]
    bench.store.corpus.delete_documents([chunk.document_id])
    with pytest.raises(NotFoundError, match="gone"):
        lenses.like(chunk)
