"""Real embedders of every runtime: what they say agrees with where they came from, and they can be added."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from storage import open_store
from tests.rerankers.models import embedding_gguf
from workbench import paths
from workbench.desk import Desk
from workbench.engine.embedding import open_embedder
from workbench.engine.embedding_models import GROUP, find_runtime, runtimes
from workbench.errors import MissingModelError, UsageError
from workbench.indexing.adding import Given, add_embedder
from workbench.indexing.catalogue import known_model, known_models, lint_embedder
from workbench.ports import Embedder
from workbench.records.corpus import IngestRequest
from workbench.records.indexes import InstalledEmbedder
from workbench.records.retrieval import SearchOptions

E5 = paths.STARTER_EMBEDDER
FAQ = "The library opens at nine. Readers may borrow six books for thirty days. Fines are paid at the desk."


def use_folder() -> Path:
    folder = paths.embedders_folder() / paths.USE_EMBEDDER
    if not folder.is_dir():
        pytest.skip("needs the second embedder: workbench starter --use")
    return folder


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A models folder with nothing but the starter embedder in it."""
    before = paths.models_folder()
    monkeypatch.setenv("WORKBENCH_MODELS", str(tmp_path / "models"))
    paths.embedders_folder().mkdir(parents=True)
    (paths.embedders_folder() / E5).symlink_to(before / "embedders" / E5)
    return before


def cosines(embedder: Embedder, query: str, passages: list[str]) -> list[float]:
    asked = embedder.embed_query(query)
    return [float(vector @ asked) for vector in embedder.embed_passages(passages)]


@pytest.mark.model
def test_use_finds_meaning_across_languages_and_counts_its_own_tokens() -> None:
    embedder = open_embedder(use_folder())
    try:
        near, far = cosines(embedder, "¿Cuándo abre la biblioteca?", ["The library opens at nine.", "Ducks eat bread."])
        assert near > far + 0.2
        assert embedder.tokenizer.count("La biblioteca abre a las nueve.") == 7
        assert embedder.tokenizer.offsets("nueve libros") == [(0, 5), (5, 12)]
        [found] = embedder.embed_passage_tokens(["a text"])
        assert (found.vector.shape, len(found.tokens)) == ((512,), 0)
        [empty] = embedder.embed_passages([""])
        assert np.isclose(np.linalg.norm(empty), 1, atol=1e-3)
    finally:
        embedder.close()


@pytest.mark.model
def test_the_embedder_follows_the_index_through_a_switch_and_back(tmp_path: Path) -> None:
    use_folder()
    tmp_path.joinpath("faq.md").write_text(FAQ, "utf-8")
    desk = Desk(open_store(tmp_path / "w.db"))
    try:
        for _ in desk.ingest(IngestRequest((str(tmp_path / "faq.md"),), "faq")):
            pass
        *_, built = desk.indexes.build("faq", paths.USE_EMBEDDER)
        desk.indexes.switch(built.index.id)
        assert desk.status().embedder == paths.USE_EMBEDDER
        dense = desk.search("horario de la biblioteca", SearchOptions("faq")).lanes[1]
        assert (dense.skipped, len(dense.hits)) == ("", 1)
        list(desk.indexes.back("faq"))
        assert desk.status().embedder == E5
        assert desk.search("horario de la biblioteca", SearchOptions("faq")).lanes[1].skipped == ""
    finally:
        desk.close()


@pytest.mark.model
def test_a_gguf_file_embeds_through_the_engine(models: Path) -> None:
    file = models / "gguf" / paths.STARTER_MODEL
    assert add_embedder(str(file), "small", Given("q: ", "p: ")) == "small"
    embedder = open_embedder(paths.embedders_folder() / "small")
    try:
        assert (embedder.info.dimension, embedder.info.pooling, embedder.info.query_prefix) == (576, "mean", "q: ")
        near, far = cosines(embedder, "the library opens at nine", ["The library opens at nine.", "x = [1, 2, 3]"])
        assert near > far
        assert embedder.tokenizer.count("The library opens") == len(embedder.tokenizer.offsets("The library opens")) > 2
        assert embedder.tokenizer.offsets("The library")[-1][1] == len("The library")
    finally:
        embedder.close()
    with pytest.raises(UsageError, match="There is an embedder"):
        add_embedder(str(file), "small")


@pytest.mark.parametrize("pooling", ["MEAN", "CLS"])
def test_a_gguf_that_is_made_for_embedding_pools_as_its_header_says(models: Path, tmp_path: Path, pooling: str) -> None:
    """All its tokens see each other, unlike a language model's: the words change the vector of [CLS], the first."""
    file = embedding_gguf(tmp_path / "bert.gguf", pooling)
    embedder = open_embedder(paths.embedders_folder() / add_embedder(str(file)))
    try:
        assert (embedder.info.dimension, embedder.info.pooling) == (32, pooling.casefold())
        assert np.isclose(np.linalg.norm(embedder.embed_query("the books")), 1)
        near, far = cosines(embedder, "two books", ["the books", "the office"])
        assert near > far + 0.01
    finally:
        embedder.close()


@pytest.mark.model
def test_an_onnx_folder_is_copied_with_what_the_table_knows(models: Path, tmp_path: Path) -> None:
    source = tmp_path / "my-multilingual-e5-small"
    shutil.copytree(models / "embedders" / E5, source, ignore=shutil.ignore_patterns("embedder.json"))
    assert add_embedder(str(source)) == source.name
    card = json.loads((paths.embedders_folder() / source.name / "embedder.json").read_text("utf-8"))
    assert (card["query_prefix"], card["passage_prefix"]) == ("query: ", "passage: ")
    assert (card["dimension"], card["max_tokens"], card["model_file"]) == (384, 512, "model_int8.onnx")
    own = {
        "1_Pooling/config.json": {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False},
        "sentence_bert_config.json": {"max_seq_length": 200},
        "config_sentence_transformers.json": {"prompts": {"query": "ask: ", "document": "text: "}},
    }
    source = source.rename(tmp_path / "own")
    (source / "1_Pooling").mkdir()
    for file, values in own.items():
        (source / file).write_text(json.dumps(values), "utf-8")
    config = json.loads((source / "config.json").read_text("utf-8")) | {"matryoshka_dimensions": [384, 128, 256]}
    (source / "config.json").write_text(json.dumps(config), "utf-8")
    add_embedder(str(source), "mine")
    assert open_embedder(paths.embedders_folder() / "mine").info.matryoshka == (384, 256, 128)
    card = json.loads((paths.embedders_folder() / "mine" / "embedder.json").read_text("utf-8"))
    assert (card["query_prefix"], card["passage_prefix"], card["pooling"]) == ("ask: ", "text: ", "cls")
    assert card["max_tokens"] == 200
    add_embedder(str(source), "nomic-embed-text-v1.5-so-called")
    card = json.loads((paths.embedders_folder() / "nomic-embed-text-v1.5-so-called/embedder.json").read_text("utf-8"))
    assert card["max_tokens"] <= 514  # its positions end there, whatever the table says of the name
    embedder = open_embedder(paths.embedders_folder() / "my-multilingual-e5-small")
    assert embedder.info.fingerprint == open_embedder(models / "embedders" / E5).info.fingerprint


def files_only(folder: Path, card: dict[str, object], name_or_path: str = "") -> Path:
    """An ONNX folder that is never run, with its own ``embedder.json``."""
    folder.mkdir()
    for name in ("model.onnx", "tokenizer.json", "tokenizer_config.json"):
        (folder / name).write_text("{}", "utf-8")
    (folder / "config.json").write_text(json.dumps({"hidden_size": 384, "_name_or_path": name_or_path}), "utf-8")
    if card:
        (folder / "embedder.json").write_text(json.dumps(card), "utf-8")
    return folder


def installed_card(name: str) -> dict[str, object]:
    found = json.loads((paths.embedders_folder() / name / "embedder.json").read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def test_what_a_folder_states_of_itself_is_taken_over(models: Path, tmp_path: Path) -> None:
    stated = {"name": "own", "query_prefix": "ask: ", "passage_prefix": "text: ", "pooling": "cls", "max_tokens": 200}
    own = files_only(tmp_path / "own", {**stated, "matryoshka": [128, "x"], "dimension": "many", "model_file": "../m"})
    assert add_embedder(str(own)) == "own"
    card = installed_card("own")
    assert {name: card[name] for name in stated} == stated
    assert (card["matryoshka"], card["dimension"], card["model_file"]) == ([128], 384, "model.onnx")
    add_embedder(str(own), "other", Given(query=""))
    assert (installed_card("other")["query_prefix"], installed_card("other")["passage_prefix"]) == ("", "text: ")


def test_a_known_model_keeps_its_prefixes_under_another_name_and_lint_misses_them(models: Path, tmp_path: Path) -> None:
    renamed = files_only(tmp_path / "downloaded", {}, "intfloat/multilingual-e5-small")
    bare = {"name": "multilingual-e5-small", "query_prefix": "", "passage_prefix": ""}
    add_embedder(str(renamed), "plain")
    add_embedder(str(files_only(tmp_path / "stripped", bare)))
    plain = installed_card("plain")
    assert (plain["query_prefix"], plain["passage_prefix"]) == ("query: ", "passage: ")
    desk = Desk(open_store(tmp_path / "w.db"))
    try:
        assert desk.indexes.lint_embedder("plain") == ()
        told = [finding.message for finding in desk.indexes.lint() if finding.about == "stripped"]
    finally:
        desk.close()
    assert told == [
        "Its questions get the prefix “”; it was trained with “query: ”.",
        "Its passages get the prefix “”; it was trained with “passage: ”.",
    ]


@pytest.mark.model
def test_a_chat_model_taken_for_an_embedder_is_told(models: Path, tmp_path: Path) -> None:
    add_embedder(str(models / "gguf" / paths.STARTER_MODEL), "chat")
    add_embedder(str(embedding_gguf(tmp_path / "bert.gguf", "MEAN")), "bert")
    desk = Desk(open_store(tmp_path / "w.db"))
    try:
        told = {finding.about: finding for finding in desk.indexes.lint()}
    finally:
        desk.close()
    assert set(told) == {"chat"}
    assert told["chat"].level == "warning"
    assert "chat model" in told["chat"].message


def test_what_is_no_embedder_is_refused_and_leaves_nothing(models: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF and no more")
    for source, why in ((empty, "neither"), (broken, "neither"), (tmp_path / "nowhere", "nothing at")):
        with pytest.raises(UsageError, match=why):
            add_embedder(str(source))
    for name in ("../evil", "..", "a/b", "/tmp/evil", ".hidden", "a\nb"):
        with pytest.raises(UsageError, match="can't be an embedder's name"):
            add_embedder(str(models / "embedders" / E5), name)
    assert not (paths.embedders_folder().parent / "evil").exists()
    with pytest.raises(MissingModelError, match="not in the catalogue"):
        add_embedder("fastembed:no-such-model")
    assert [folder.name for folder in paths.embedders_folder().iterdir()] == [E5]


def test_other_packages_add_runtimes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "thirdparty-1.0.dist-info"
    package.mkdir()
    package.joinpath("METADATA").write_text("Name: thirdparty\nVersion: 1.0\n")
    package.joinpath("entry_points.txt").write_text(f"[{GROUP}]\nmine = thirdparty_embedder:load\n")
    tmp_path.joinpath("thirdparty_embedder.py").write_text("def load(request):\n    return request.folder\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "mine" in runtimes()
    assert find_runtime("mine").__name__ == "load"
    with pytest.raises(LookupError, match="gguf, mine, onnx, use"):
        find_runtime("theirs")


def test_the_table_finds_each_model_by_its_names_and_agrees_with_itself() -> None:
    for model in known_models():
        prefixes = (model.query_prefix, model.passage_prefix)
        info = InstalledEmbedder(model.names[0], "onnx", model.dimension, model.max_tokens, *prefixes, model)
        assert list(lint_embedder(info)) == []
        bare = list(lint_embedder(replace(info, query_prefix="", passage_prefix="")))
        assert [finding.level for finding in bare] == ["error" for prefix in prefixes if prefix]
        assert all(known_model(f"some/{name.upper()}-q8") is model for name in model.names)
        assert all(0 < cut <= model.dimension for cut in model.matryoshka)
        assert model.licence
        assert model.languages
