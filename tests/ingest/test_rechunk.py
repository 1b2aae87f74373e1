"""A changed recipe or embedder: a new index is built from the stored text, and replaces the old one when complete."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from tests.embedders import INFO, HashEmbedder
from tests.ingest.conftest import Bench, snapshot
from workbench.corpus.chunking import recipe_from
from workbench.errors import UsageError

SENTENCE = recipe_from("sentence")


@pytest.fixture
def filled(bench: Bench) -> Bench:
    for i in range(6):
        bench.write(f"{i}.md", f"First of {i}. Second of {i}.")
    bench.ingest()
    return bench


def test_another_recipe_is_refused_with_the_way_out(filled: Bench) -> None:
    with pytest.raises(UsageError) as caught:
        filled.ingest(recipe=SENTENCE)
    assert "structure:size=400" in caught.value.message
    assert "--rechunk" in caught.value.remedy
    assert set(filled.actions(recipe=recipe_from("structure")).values()) == {"unchanged"}


def test_the_whole_collection_is_cut_again_even_where_sources_are_gone(filled: Bench) -> None:
    (filled.folder / "3.md").unlink()
    assert set(filled.actions(recipe=SENTENCE, rechunk=True).values()) == {"updated"}
    assert filled.texts("3.md") == ["First of 3.", "Second of 3."]
    index = filled.store.corpus.current_index("c")
    assert index is not None
    assert (index.recipe, index.vectors) == (SENTENCE, 12)
    assert filled.store.corpus.collection("c").recipe == SENTENCE
    assert set(filled.actions().values()) == {"unchanged"}


def test_queries_meet_the_old_index_until_the_new_one_is_complete_and_any_run_completes_it(filled: Bench) -> None:
    cancel = threading.Event()
    for progress in filled.progresses(cancel, paths=(), recipe=SENTENCE, rechunk=True):
        if progress.done == 2:
            cancel.set()
    assert progress.cancelled
    assert filled.texts("0.md") == ["First of 0. Second of 0."]
    assert filled.texts("5.md") == ["First of 5. Second of 5."]
    filled.ingest()
    assert filled.texts("5.md") == ["First of 5.", "Second of 5."]
    assert 0 < len(filled.embedder.embedded) < 12
    resumed = snapshot(filled.store)
    filled.store.corpus.delete_collection("c")
    filled.ingest(recipe=SENTENCE)
    assert snapshot(filled.store)[3:] == resumed[3:]


def test_another_embedder_gets_its_own_index(filled: Bench) -> None:
    filled.embedder = HashEmbedder(replace(INFO, fingerprint="hash-2"))
    assert filled.actions(paths=()) == {f"{i}.md": "updated" for i in range(6)}
    index = filled.store.corpus.current_index("c")
    assert index is not None
    assert (index.embedder.fingerprint, index.vectors) == ("hash-2", 6)


def test_the_semantic_recipe_embeds_sentences_while_it_cuts(bench: Bench) -> None:
    bench.write("a.md", "Cats purr. Ships sail. Dogs bark. Cars drive.")
    outcome = bench.ingest(recipe=recipe_from("semantic", threshold=50))["a.md"]
    assert outcome.action == "added"
    assert 1 < outcome.chunks < 4
    assert "Cats purr." in bench.embedder.embedded[:4]
