"""Texts under real tokenizers, the window's worked sums, and prompts that spoil their cache."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench import paths
from workbench.answers.generate import Writer
from workbench.cli.tools.tokens import print_budget
from workbench.engine.client import load_generator
from workbench.engine.embedding import open_embedder
from workbench.engine.gguf_header import read_header
from workbench.errors import NotFoundError
from workbench.ports import Embedder, Generator
from workbench.records.answers import AskOptions, Ledger
from workbench.records.models import LoadSettings
from workbench.records.servers import Endpoint, ServedModel
from workbench.records.tokens import Piece, WindowBudget
from workbench.servers.generator import ServedGenerator
from workbench.servers.openai import OpenAi
from workbench.servers.wire import Wire
from workbench.text.counting import ENCODINGS, tiktoken_encoding
from workbench.tokens import TokenLab
from workbench.tokens.prefix import compare_prompts
from workbench.tokens.window import budget_of

TEXT = "¿Qué día es hoy, José? 😀"
HAS_TIKTOKEN = tiktoken_encoding("o200k_base") is not None and tiktoken_encoding("cl100k_base") is not None
tiktoken_files = pytest.mark.skipif(not HAS_TIKTOKEN, reason="needs tiktoken's rank files: workbench starter")


@pytest.fixture(scope="module")
def model() -> Iterator[Generator]:
    made = load_generator(read_header(paths.gguf_folder() / paths.STARTER_MODEL), LoadSettings(context=512))
    yield made
    made.close()


@pytest.fixture(scope="module")
def embedder() -> Iterator[Embedder]:
    made = open_embedder(paths.embedders_folder() / paths.STARTER_EMBEDDER)
    yield made
    made.close()


@pytest.mark.model
@tiktoken_files
def test_a_text_is_cut_by_every_tokenizer_and_each_cuts_it_otherwise(model: Generator, embedder: Embedder) -> None:
    lab = TokenLab(lambda: model, lambda: embedder)
    cuts = {cut.tokenizer: cut for cut in lab.cuts(TEXT)}
    assert list(cuts) == [model.model.file.name, "o200k_base", "cl100k_base", "multilingual-e5-small"]
    assert (cuts["o200k_base"].count, cuts["cl100k_base"].count) == (8, 9)
    assert cuts[model.model.file.name].count == model.count_tokens(TEXT) == 13
    assert "".join(piece.text for piece in cuts["o200k_base"].pieces) == TEXT
    assert "Qué" in [piece.text for piece in cuts["multilingual-e5-small"].pieces]


@tiktoken_files
@pytest.mark.parametrize("text", ["", "\ud800", "<|endoftext|>", "\x00\x1b[31m", "a" * 20_000])
def test_hostile_texts_are_text(text: str) -> None:
    lab = TokenLab(lambda: None, lambda: None)
    safe = text.encode("utf-8", "replace").decode()
    for cut in lab.cuts(safe):
        assert "".join(piece.text for piece in cut.pieces) == safe


def test_encodings_are_known_by_the_files_and_hashes_that_tiktoken_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    public = pytest.importorskip("tiktoken_ext.openai_public")
    named: list[tuple[str, str]] = []

    def load(address: str, expected_hash: str) -> dict[bytes, int]:
        named.append((hashlib.sha1(address.encode()).hexdigest(), expected_hash))
        return {}

    monkeypatch.setattr(public, "load_tiktoken_bpe", load)
    for name in ENCODINGS:
        public.ENCODING_CONSTRUCTORS[name]()
    assert named == list(ENCODINGS.values())


def test_a_tokenizer_that_is_not_here_is_named_with_those_that_are() -> None:
    with pytest.raises(NotFoundError, match="gpt-9"):
        TokenLab(lambda: None, lambda: None).cut("x", "gpt-9")


def test_a_server_that_tells_no_tokens_is_said_to_and_counts_nothing() -> None:
    untold = ServedGenerator(Wire(Endpoint("http://127.0.0.1:9")), OpenAi(), ServedModel("m"))
    lab = TokenLab(lambda: untold, lambda: None)
    (cut,) = lab.cuts("hello world", ("model",))
    assert not cut.told
    assert lab.cut("", "m").told  # nothing has no tokens
    with pytest.raises(NotFoundError, match="doesn't tell"):
        lab.compare("hello world", "hello you", "m")
    if HAS_TIKTOKEN:
        assert lab.compare("hello world", "hello you").tokenizer == "o200k_base"


def test_input_and_output_share_the_window_as_the_source_works_it_out() -> None:
    call = WindowBudget(32_000, documents=18_000, output=900)
    assert call.total == 18_900
    reserved = WindowBudget(32_000, documents=18_000, output=1_500)
    assert reserved.total == 19_500
    assert reserved.fits
    parts = WindowBudget(128_000, 600, 2_000, 20_000, 1_400, output=1_500)
    assert (parts.total, parts.left, parts.fits) == (25_500, 102_500, True)
    asked_in_sql = WindowBudget(8_192, 870, 0, 2_500 + 1_200 + 1_800, 0, 30)
    assert asked_in_sql.total == 6_400
    assert not WindowBudget(25_499, 600, 2_000, 20_000, 1_400, output=1_500).fits


def test_a_window_that_is_assumed_and_tokens_that_are_estimated_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    untold = ServedGenerator(Wire(Endpoint("http://127.0.0.1:9")), OpenAi(), ServedModel("m"))
    told = replace(untold.model, counted=True, context_told=True)
    assert (untold.model.counted, untold.model.context_told) == (False, False)
    budget = Writer(untold, "When?", "en", AskOptions()).budget()
    assert (budget.estimated, budget.assumed) == (True, True)
    ledger = Ledger(100, 1000, 9, 256, 4096, told.file.name, budget.estimated, budget.assumed)
    print_budget(budget_of(ledger))
    said = capsys.readouterr().out
    assert "≈ 1,109 + 256 = ≈ 1,365 ≤ 4,096 (assumed: its server doesn't tell) · ≈ 2,731 left" in said
    print_budget(budget_of(replace(ledger, estimated=False), 2048))
    assert "1,109 + 256 = 1,365 ≤ 2,048 · 683 left" in capsys.readouterr().out


def words(text: str) -> Sequence[Piece]:
    return [Piece(word) for word in text.split()]


def compared(first: str, second: str) -> dict[str, int]:
    return {found.kind: found.line for found in compare_prompts(first, second, "words", words).breaks}


STABLE = "You are an assistant.\nAnswer briefly.\n"


def test_a_question_at_the_end_costs_only_itself() -> None:
    report = compare_prompts(STABLE + "Q: one", STABLE + "Q: two", "words", words)
    assert (report.shared, report.tokens, report.lost, report.again) == (7, 8, 1, 0)
    assert (report.line, report.column, report.before, report.after) == (3, 4, "one", "two")
    assert report.hit == pytest.approx(7 / 8)


def test_a_time_at_the_top_costs_all_that_follows() -> None:
    first, second = (f"Now: 2026-11-30 10:0{n}\n{STABLE}Q: one" for n in (1, 2))
    report = compare_prompts(first, second, "words", words)
    assert report.shared == 2
    assert report.again == 8
    assert [(b.kind, b.line, b.excerpt) for b in report.breaks] == [("time", 1, "2026-11-30 10:02")]


@pytest.mark.parametrize("stamp", ["1764500000", "30/11/2026", "10:02:33", "2026-11-30T10:02:33.120+01:00"])
def test_times_are_known_in_their_usual_forms(stamp: str) -> None:
    other = stamp.replace("0", "1", 1).replace("3", "2")
    assert compared(f"id {other}\n{STABLE}", f"id {stamp}\n{STABLE}") == {"time": 1}


def test_the_same_object_with_keys_in_another_order_is_found() -> None:
    tools = {"name": "search", "args": {"q": "text", "k": 5}}
    turned = {"args": {"k": 5, "q": "text"}, "name": "search"}
    assert compared(f"{STABLE}{json.dumps(tools)}\nQ", f"{STABLE}{json.dumps(turned)}\nQ") == {"key_order": 3}


def test_examples_that_move_are_found() -> None:
    a, b = "Example: cat\nAnswer: animal", "Example: oak\nAnswer: plant"
    assert compared(f"{STABLE}\n{a}\n\n{b}\n\nQ", f"{STABLE}\n{b}\n\n{a}\n\nQ")["moved"] == 4


def test_equal_prompts_lose_nothing() -> None:
    report = compare_prompts(STABLE, STABLE, "words", words)
    assert (report.hit, report.lost, report.line, report.breaks) == (1.0, 0, 0, ())


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_can_be_compared(first: str, second: str) -> None:
    report = compare_prompts(first, second, "words", words)
    assert 0 <= report.shared <= report.tokens
    assert 0 <= report.again <= report.lost
    assert bool(report.breaks) == (first != second)


def test_brackets_without_end_do_not_hang_or_overflow() -> None:
    deep = "[" * 50_000
    assert compared(deep, deep + "x")["changed"] == 1
