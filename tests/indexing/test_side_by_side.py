"""Indexes beside each other: built without the sources, switched, gone back to, dropped, and never mixed up."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

from screens.corpus.figures import compared, described
from tests.embedders import INFO, HashEmbedder
from tests.indexing.conftest import NAME, Lab
from workbench.corpus.chunking import describe_recipe, recipe_from
from workbench.corpus.embedding import ChunkEmbedder
from workbench.errors import EngineError, MissingModelError, NotFoundError, UsageError
from workbench.records.cases import Case, GoldSpan
from workbench.records.corpus import VectorForm
from workbench.records.retrieval import AllOf, SearchOptions
from workbench.retrieval.search import Searcher


def test_another_embedder_is_built_from_the_stored_texts_while_questions_meet_the_old_index(lab: Lab) -> None:
    for path in lab.folder.iterdir():
        path.unlink()
    built = lab.build(embedder="other").index
    assert len(lab.installed["other"].embedded) == 1 + 6  # the probe for token vectors, then every chunk
    assert lab.installed["hash"].embedded == []
    assert lab.statuses() == {1: "current", built.id: "building"}
    assert (built.embedder.name, built.recipe.token_vectors) == ("other", "none")
    assert lab.embedders.current(NAME) is lab.installed["hash"]
    lab.indexes.switch(built.id)
    assert lab.statuses() == {built.id: "current", 1: "kept"}
    assert lab.embedders.current(NAME) is lab.installed["other"]
    list(lab.indexes.back(NAME))
    assert lab.statuses() == {1: "current", built.id: "kept"}


def test_a_query_meets_vectors_of_its_own_embedder_or_none(lab: Lab) -> None:
    built = lab.build(embedder="other").index
    mixed = Searcher(lab.store, lab.installed["hash"], only=built).search("the pump", SearchOptions(NAME))
    assert "made by other" in mixed.lanes[1].skipped
    with pytest.raises(EngineError, match="numbers"):
        lab.store.search.dense(built, lab.installed["hash"].embed_query("x")[:8], AllOf(()), 5)
    with pytest.raises(EngineError, match="made by other"):
        ChunkEmbedder(lab.store.corpus, lab.installed["hash"], built)
    lab.indexes.switch(built.id)
    chosen = Searcher(lab.store, lab.installed["hash"], embedders=lab.embedders.of)
    assert chosen.search("the pump", SearchOptions(NAME)).lanes[1].skipped == ""
    assert chosen.embedder is lab.installed["other"]
    del lab.installed["other"]
    alone = Searcher(lab.store, lab.installed["hash"], embedders=lab.embedders.of)
    assert "made by other" in alone.search("the pump", SearchOptions(NAME)).lanes[1].skipped


def test_a_stopped_build_goes_on_and_can_not_be_switched_to_before(lab: Lab) -> None:
    stop = threading.Event()
    for step in lab.indexes.build(NAME, "other", cancel=stop):
        if step.progress.done == 2:
            stop.set()
    assert step.progress.cancelled
    half = lab.indexes.index(2)
    assert 0 < half.vectors < 6
    with pytest.raises(UsageError, match="lacks"):
        lab.indexes.switch(half.id)
    steps = list(lab.indexes.build(NAME, "other"))
    assert {step.index.id for step in steps} == {half.id}
    assert [(step.done, step.total) for step in (steps[0], steps[-1])] == [(2, 6), (6, 6)]
    assert len(lab.installed["other"].embedded) == 1 + 6 + 1  # each chunk once, and a probe for each build
    assert lab.indexes.switch(half.id).status == "current"


def test_another_form_copies_the_vectors_and_going_back_completes_what_came_in_since(lab: Lab) -> None:
    step = lab.build(form="int8")
    assert lab.installed["hash"].embedded == []
    assert step.index.form == VectorForm("int8")
    lab.indexes.switch(step.index.id)
    lab.write("new.md", "A seventh document about valves.")
    lab.ingest()
    assert [(s.index.id, s.complete) for s in lab.indexes.states(NAME)] == [(step.index.id, 7), (1, 6)]
    assert len(list(lab.indexes.back(NAME))) > 0
    assert [(s.index.id, s.complete) for s in lab.indexes.states(NAME)] == [(1, 7), (step.index.id, 7)]


def test_another_recipe_is_built_beside_and_ingest_follows_the_switch(lab: Lab) -> None:
    sentence = recipe_from("sentence")
    built = lab.build(recipe=sentence).index
    assert lab.indexes.index(built.id).vectors > lab.indexes.index(1).vectors
    assert lab.store.corpus.collection(NAME).recipe != sentence
    lab.indexes.switch(built.id)
    assert lab.store.corpus.collection(NAME).recipe == sentence
    lab.ingest()
    assert lab.statuses() == {built.id: "current", 1: "kept"}


def test_what_can_not_be_built_or_dropped_says_why(lab: Lab) -> None:
    with pytest.raises(UsageError, match="already meet"):
        lab.build()
    with pytest.raises(MissingModelError, match="hash, other"):
        lab.build(embedder="none")
    with pytest.raises(UsageError, match="Matryoshka"):
        lab.build(form="float32@8")
    with pytest.raises(UsageError, match="in use"):
        lab.indexes.drop(1)
    with pytest.raises(UsageError, match="never switched"):
        list(lab.indexes.back(NAME))
    with pytest.raises(NotFoundError):
        lab.indexes.switch(99)
    built = lab.build(form="bit+int8").index
    lab.indexes.drop(built.id)
    with pytest.raises(NotFoundError):
        lab.indexes.index(built.id)
    lab.installed["hash"] = HashEmbedder(replace(INFO, matryoshka=(8, 4)))
    cut = lab.build(form="float32@8").index
    [vector] = lab.store.search.vectors(
        cut.id, [lab.store.corpus.chunks(lab.store.corpus.documents(NAME)[0].id, cut.id)[0].id]
    ).values()
    assert (len(vector), round(float(np.linalg.norm(vector)), 5)) == (8, 1.0)
    with pytest.raises(UsageError, match="can be cut to 8, 4"):
        lab.build(form="float32@5")
    lab.installed["hash"] = HashEmbedder(replace(INFO, fingerprint="hash-2"))
    with pytest.raises(UsageError, match="another hash than the one that is installed"):
        lab.build(form="int8")


def test_recall_is_measured_against_exact_with_the_filter_on(lab: Lab) -> None:
    *_, found = lab.indexes.recall(1, filter_text='source_id = "1.md" OR source_id = "2.md"')
    by_form = {one.form: one for one in found.measured}
    assert by_form[VectorForm()].recall.value == 1.0
    assert {one.passing for one in found.measured} == {2}
    assert by_form[VectorForm("bit")].bytes == 6 * 16 / 8
    assert lab.indexes.measured(1) == found.measured
    with pytest.raises(UsageError, match="No chunk passes"):
        list(lab.indexes.recall(1, filter_text="tokens > 100000"))
    built = lab.build(form="bit+float32").index
    *_, own = lab.indexes.recall(built.id)
    assert next(one for one in own.measured if one.form == built.form).milliseconds is not None


def test_an_approximate_index_tells_its_recall_with_every_answer(lab: Lab) -> None:
    def told() -> list[str]:
        return [lane.note for lane in Searcher(lab.store, HashEmbedder()).search("pump", SearchOptions(NAME)).lanes]

    assert told() == ["", ""]
    lab.indexes.switch(lab.build(form="int8").index.id)
    assert told()[1] == "int8: its recall against exact was never measured"
    list(lab.indexes.recall(2, filter_text='source_id = "1.md" OR source_id = "2.md"'))
    assert told()[1].startswith("Recall_ANN@2 1.000 [")
    assert told()[1].endswith('] · int8 · source_id = "1.md" OR source_id = "2.md"')
    assert "Outdated" not in described(lab.indexes.states(NAME)[0]).plain
    lab.folder.joinpath("0.md").unlink()
    lab.store.corpus.delete_documents([d.id for d in lab.store.corpus.documents(NAME) if d.source_id == "0.md"])
    lab.write("6.md", "# Title 6\n\nThe pump of hall 6 is blue. It was built in 1996.")
    lab.ingest()
    assert told()[1].startswith("outdated · Recall_ANN@2 1.000 ["), "as many vectors, but others"
    assert "Outdated: measured with 6 vectors" in (seen := described(lab.indexes.states(NAME)[0]).plain)
    assert "KiB" not in seen.partition("(N·d·b)")[2], "no bytes of then beside those of now"
    with pytest.raises(UsageError, match="different chunks"):
        list(lab.indexes.recall(2))
    list(lab.indexes.complete(1))
    list(lab.indexes.recall(2))
    assert told()[1].startswith("Recall_ANN@")


def test_recall_without_exact_vectors_says_what_to_build(lab: Lab) -> None:
    built = lab.build(form="int8").index
    lab.indexes.switch(built.id)
    lab.indexes.drop(1)
    with pytest.raises(UsageError, match="whole vectors") as refused:
        list(lab.indexes.recall(built.id))
    assert f"-r {describe_recipe(built.recipe)} --form float32" in refused.value.remedy


def test_two_indexes_are_compared_on_gold_and_on_stored_questions(lab: Lab) -> None:
    built = lab.build(embedder="other").index
    with pytest.raises(UsageError, match="Nothing was asked"):
        list(lab.indexes.compare(1, built.id))
    cases = [Case(str(n), f"Which pump is in hall {n}?", gold=(GoldSpan(f"{n}.md", grade=3),)) for n in range(6)]
    lab.store.datasets.put("halls", NAME, cases)
    *_, found = lab.indexes.compare(1, built.id, "halls")
    assert (found.cases, found.total, found.finished) == (6, 6, True)
    names = [metric.metric for metric in found.metrics]
    assert names == [f"{lane} {m}" for lane in ("dense", "fusion") for m in ("recall@1", "recall@5", "mrr@10")]
    first = found.metrics[3]
    assert first.difference.value == pytest.approx(first.b.value - first.a.value)
    assert found.fixed - found.broken == round(first.difference.value * found.cases)
    assert compared(found).plain.splitlines()[-1].startswith(f"{first.metric}: {found.fixed} only right with ")
    lab.write("late.md", "It came in after the build.")
    lab.ingest()
    *_, found = lab.indexes.compare(1, built.id, "halls")
    assert found.lacking == (0, 1)
    assert compared(found).plain.splitlines()[-1].startswith(f"Documents that index {built.id} lacks: 1.")
    gone, retired, *rest = lab.store.corpus.documents(NAME)
    lab.store.corpus.delete_documents([gone.id])
    lab.store.corpus.set_status([retired.id], "retired")
    *_, found = lab.indexes.compare(1, built.id, "halls")
    assert (found.cases, found.total, found.left_out) == (4, 4, 2), "no index could find what is gone"
    assert compared(found).plain.splitlines()[-1].startswith("2 left out: their gold is gone")
    lab.store.corpus.set_status([document.id for document in rest], "retired")
    with pytest.raises(UsageError, match="No gold of “halls”"):
        list(lab.indexes.compare(1, built.id, "halls"))


def test_lint_tells_prefixes_and_foreign_indexes(lab: Lab) -> None:
    lopsided = replace(INFO, name="hash", fingerprint="hash-2", query_prefix="")
    lab.installed["hash"] = HashEmbedder(lopsided)
    messages = [finding.message for finding in lab.indexes.lint()]
    assert any("isn't the one that made it" in message for message in messages)
    assert any(message == "Only passages get a prefix." for message in messages)
    wrong = replace(INFO, name="my-multilingual-e5-small", dimension=384, max_tokens=600, query_prefix="")
    lab.installed["my-multilingual-e5-small"] = HashEmbedder(wrong)
    told = [finding for finding in lab.indexes.lint() if finding.about == "my-multilingual-e5-small"]
    assert ["no longer fit" in finding.message for finding in told].count(True) == 1
    assert any("reads 512" in finding.message for finding in told)


def test_a_preview_tells_what_another_recipe_would_cut(lab: Lab) -> None:
    (document,) = [d for d in lab.store.corpus.documents(NAME) if d.source_id == "3.md"]
    (found,) = lab.indexes.preview(NAME, recipe_from("sentence"), [document.id])
    assert found.after.chunks > found.before.chunks == 1
    assert found.count("added") + found.count("moved") == found.after.chunks
    assert found.count("removed") + found.count("moved") == 1
    (same,) = lab.indexes.preview(NAME, lab.indexes.index(1).recipe, [document.id])
    assert same.count("same") == same.after.chunks == same.before.chunks
    assert lab.statuses() == {1: "current"}
