"""A served model in the embedder's place: scripted servers for what may go wrong, a real one for the whole way."""

from __future__ import annotations

import itertools
import json
import math
import pickle
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage import open_store
from tests.servers.conftest import playing
from workbench.desk import Desk
from workbench.errors import Cancelled, EngineError, NotFoundError, ServerError
from workbench.ports import Cancel
from workbench.records.corpus import IngestRequest
from workbench.records.retrieval import SearchOptions
from workbench.records.servers import EmbedderCard, Endpoint
from workbench.servers.embedder import BATCH, ServedEmbedder, ServedTokenizer, probe, spans
from workbench.servers.openai import OpenAi
from workbench.servers.wire import Wire


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(open_store(tmp_path / "w.db"))
    yield desk
    desk.close()


def vectors(body: Any) -> tuple[int, str]:
    """Of length 5, backwards: each text's number of characters, and 1."""
    rows = [{"index": place, "embedding": [float(len(text)), 1.0]} for place, text in enumerate(body["input"])]
    return 200, json.dumps({"data": rows[::-1]})


SERVER = {
    "GET /v1/models": (200, json.dumps({"data": [{"id": "some-embed", "object": "model"}]})),
    "POST /v1/embeddings": vectors,
}


def embedder_at(url: str, query_prefix: str = "", passage_prefix: str = "") -> ServedEmbedder:
    wire = Wire(Endpoint(url))
    (model,) = OpenAi().models(wire)
    return ServedEmbedder(wire, probe(wire, OpenAi(), model, query_prefix, passage_prefix))


def test_texts_go_in_batches_with_their_prefix_and_vectors_come_in_order_and_normalised() -> None:
    with playing(SERVER) as server:
        embedder = embedder_at(server.url, "query: ", "passage: ")
        server.asked.clear()
        found = list(embedder.embed_passages(["x" * n for n in range(1, BATCH + 3)]))
        assert [len(body["input"]) for _, body in server.asked] == [BATCH, 2]
        assert server.asked[0][1]["input"][0] == "passage: x"
        lengths = [9 + n for n in range(1, BATCH + 3)]  # a passage's prefix has 9 characters
        for vector, length in zip(found, lengths, strict=True):
            assert vector == pytest.approx(np.array([length, 1]) / math.hypot(length, 1))
        embedder.embed_query("x")
        assert server.asked[-1][1]["input"] == ["query: x"]


def test_an_empty_text_is_refused_before_it_is_sent() -> None:
    with playing(SERVER) as server:
        embedder = embedder_at(server.url, passage_prefix="passage: ")
        sent = len(server.asked)
        with pytest.raises(ServerError, match="means nothing"):
            list(embedder.embed_passages(["words", " \n"]))
        assert len(server.asked) == sent


def test_what_vectors_depend_on_is_their_fingerprint_and_the_address_is_not() -> None:
    def print_of(**changes: Any) -> str:
        card = EmbedderCard(Endpoint("http://127.0.0.1:1"), "openai", "m", "sha", 384, 512, "q", "p")
        return ServedEmbedder(Wire(card.endpoint), replace(card, **changes)).info.fingerprint

    same = print_of()
    assert print_of(endpoint=Endpoint("http://10.0.0.1:2")) == same
    others = [
        print_of(kind="ollama"), print_of(model="n"), print_of(identity="other"), print_of(dimension=385),
        print_of(query_prefix=""), print_of(passage_prefix=""), print_of(max_tokens=256),
    ]  # fmt: skip
    assert len({same, *others}) == 8


def test_there_are_no_token_vectors() -> None:
    with playing(SERVER) as server:
        embedder = embedder_at(server.url)
        assert embedder.info.pooling == "server"
        (found,) = embedder.embed_passage_tokens(["some words"])
        assert found.tokens.shape == (0, 2)
        assert not embedder.token_mean().any()


@pytest.mark.parametrize("row", [[0.0, 0.0], [float("nan"), 1.0], [1e300, 1.0]])
def test_a_vector_without_direction_is_refused(row: list[float]) -> None:
    told = (200, json.dumps({"data": [{"index": 0, "embedding": row}]}))
    with playing({**SERVER, "POST /v1/embeddings": told}) as server, pytest.raises(EngineError, match="zero or not"):
        embedder_at(server.url)


@pytest.mark.parametrize(
    "reply",
    ["[]", '{"data": 3}', '{"data": [3]}', '{"data": [{"index": 0, "embedding": "x"}]}',
     '{"data": [{"index": 0, "embedding": [[1]]}]}', '{"data": [{"index": 7, "embedding": [1]}]}',
     '{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}', "{}"],
)  # fmt: skip
def test_a_reply_of_another_shape_is_an_error_that_names_the_server(reply: str) -> None:
    with playing({**SERVER, "POST /v1/embeddings": (200, reply)}) as server, pytest.raises(EngineError) as caught:
        embedder_at(server.url)
    assert server.url in caught.value.message


def test_another_dimension_than_when_it_was_chosen_is_another_model() -> None:
    longer = (200, json.dumps({"data": [{"index": 0, "embedding": [1.0, 2.0, 3.0]}]}))
    replies = {**SERVER, "POST /v1/embeddings": [vectors, longer]}
    with playing(replies) as server:
        embedder = embedder_at(server.url)
        with pytest.raises(ServerError, match="3 dimensions; they had 2"):
            embedder.embed_query("words")


def test_a_server_that_has_another_model_now_is_told_at_the_start() -> None:
    other = (200, json.dumps({"data": [{"id": "other-embed"}]}))
    with playing({**SERVER, "GET /v1/models": [SERVER["GET /v1/models"], other]}) as server:
        embedder = embedder_at(server.url)
        with pytest.raises(ServerError, match="some-embed"):
            embedder.start()


def test_a_stop_is_heard_while_the_server_computes() -> None:
    with playing({**SERVER, "POST /v1/embeddings": [vectors, (0, "")]}) as server:
        embedder, stop = embedder_at(server.url), Cancel()

        def when_held() -> None:
            assert server.hold.wait(60)
            stop.set()

        threading.Thread(target=when_held).start()
        with pytest.raises(Cancelled):
            list(embedder.embed_passages(["words"], stop))
        assert server.gone.wait(60), "the server was not told"


def test_a_busy_server_is_asked_again() -> None:
    with playing({**SERVER, "POST /v1/embeddings": [vectors, (429, "{}"), vectors]}) as server:
        assert len(embedder_at(server.url).embed_query("words")) == 2


def test_without_the_servers_tokens_counts_are_estimates_and_say_so() -> None:
    tokenizer = ServedTokenizer(Endpoint("http://127.0.0.1:1"), "openai", "m")
    assert tokenizer.offsets("Hola, mundos") == [(0, 4), (4, 5), (6, 10), (10, 12)]
    assert tokenizer.count("Hola, mundos") == 4
    assert tokenizer.name == "≈ m"
    assert pickle.loads(pickle.dumps(tokenizer)).count("a b c") == 3


@given(st.text(max_size=40), st.data())
def test_spans_cover_the_text_whatever_its_bytes_are_cut_into(text: str, data: st.DataObject) -> None:
    whole = text.encode("utf-8", "surrogatepass")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    edges = [0, *cuts, len(whole)]
    pieces = [whole[a:b] for a, b in itertools.pairwise(edges)]
    found = spans(text, pieces)
    assert found is not None
    assert "".join(text[a:b] for a, b in found) == text
    assert spans(text, [b" ", *pieces]) is not None
    assert spans(text + "x", pieces) is None


@pytest.mark.model
def test_a_collection_is_embedded_and_searched_through_a_real_server(
    desk: Desk, embedding_server: str, tmp_path: Path
) -> None:
    info = desk.servers.embed_with(embedding_server, passage_prefix="passage: ")
    assert (info.dimension, info.max_tokens, info.normalised) == (576, 512, True)
    assert desk.status().reach == embedding_server.removeprefix("http://")
    (tmp_path / "hours.md").write_text(
        "The library opens at nine on Mondays.\n\n" + "More words follow. " * 30, "utf-8"
    )
    (tmp_path / "night.md").write_text("# Noche\n\nEl búho 🦉 caza ratones de noche.", "utf-8")
    steps = list(desk.ingest(IngestRequest((str(tmp_path / "hours.md"), str(tmp_path / "night.md")), "c")))
    assert [outcome.action for step in steps for outcome in step.outcomes] == ["added", "added"]
    (collection,) = desk.collections()
    assert collection.recipe.token_vectors == "none"
    (night,) = [d for d in desk.documents() if d.source_id == "night.md"]
    (chunk,) = desk.chunks(night.id)
    assert chunk.tokens > 10
    found = desk.search("The library opens at nine on Mondays.", SearchOptions(lanes=("dense",)))
    assert found.lanes[0].skipped == ""
    assert found.hits[0].source_id == "hours.md"


@pytest.mark.model
def test_the_servers_own_tokens_are_located_exactly_and_long_texts_are_cut_to_what_it_reads(
    desk: Desk, embedding_server: str
) -> None:
    (served, *_) = desk.servers.look(Endpoint(embedding_server)).models
    desk.servers.embed_with(f"{embedding_server}#{served.name}")
    with pytest.raises(NotFoundError, match="serves"):
        desk.servers.embed_with(f"{embedding_server}#nobody")
    embedder = desk.servers.embedders.open(desk.servers.embedders.names()[0])
    assert embedder is not None
    text = "El búho 🦉 caza <|im_end|> ratones."
    found = embedder.tokenizer.offsets(text)
    assert "".join(text[a:b] for a, b in found) == text
    assert len(found) == embedder.tokenizer.count(text)
    assert "≈" not in embedder.tokenizer.name
    (vector,) = embedder.embed_passages(["many words " * 2_000])
    assert np.linalg.norm(vector) == pytest.approx(1)


@pytest.mark.model
def test_a_model_that_does_not_embed_is_not_taken(desk: Desk, llama_server: str) -> None:
    with pytest.raises(ServerError) as caught:
        desk.servers.embed_with(llama_server)
    assert "embeddings" in caught.value.message
    assert desk.status().reach == "offline"
