"""A loaded model answers, stops, obeys grammars, and can be stopped."""

from __future__ import annotations

import importlib.util
import itertools
import json
import threading
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from tests.engine.conftest import model_path
from workbench.engine.client import ChildGenerator, engine_available, load_generator
from workbench.engine.gguf_header import read_header
from workbench.errors import BudgetError, Cancelled, EngineError, UsageError
from workbench.memory.estimate import estimate
from workbench.records.answers import Generation, Message
from workbench.records.models import GenerationSettings, LoadProgress, LoadSettings

pytestmark = pytest.mark.model

GREEDY = GenerationSettings(max_tokens=24)
LONG = "The library opens at nine and closes at eight. " * 300


def ask(generator: ChildGenerator, question: str, settings: GenerationSettings = GREEDY) -> list[Generation]:
    return list(generator.generate(generator.render([Message("user", question)]), settings))


def forced(generator: ChildGenerator, text: str, **settings: object) -> list[Generation]:
    """Makes the model say ``text``, whatever it would have said."""
    grammar = f'root ::= "{text}"'
    return ask(generator, "Say it.", replace(GREEDY, max_tokens=64, grammar=grammar, **settings))


def test_an_answer_streams_from_started_to_complete(generator: ChildGenerator) -> None:
    steps = ask(generator, "What is 2+2?")
    assert [steps[0].state, steps[-1].state] == ["started", "complete"]
    states = [state for state, _ in itertools.groupby(step.state for step in steps)]
    assert states == ["started", "partial", "complete"]
    assert "4" in steps[-1].text
    assert all(later.text.startswith(earlier.text) for earlier, later in itertools.pairwise(steps))
    last = steps[-1]
    assert last.stop_reason == "eos"
    assert last.prompt_tokens > 20
    assert 0 < last.output_tokens <= 24
    assert last.ttft_ms is not None
    assert 0 < last.ttft_ms <= last.duration_ms
    assert last.prefill_tps is not None
    assert last.decode_tps is not None


def test_the_first_token_is_shown_at_once_and_later_ones_in_groups(generator: ChildGenerator) -> None:
    steps = ask(generator, "Tell me a story about the sea.", replace(GREEDY, max_tokens=40))
    partial = [step for step in steps if step.state == "partial"]
    assert partial[0].output_tokens == 1
    assert len(partial) < 40


def test_greedy_answers_repeat_and_seeds_decide_sampled_ones(generator: ChildGenerator) -> None:
    question = "Write a sentence about the sea."
    assert ask(generator, question)[-1].text == ask(generator, question)[-1].text
    warm = replace(GREEDY, temperature=1.5, top_k=0, top_p=1.0)
    one, same, other = (ask(generator, question, replace(warm, seed=seed))[-1].text for seed in (1, 1, 2))
    assert one == same != other


def test_a_second_question_over_the_same_evidence_reuses_it(generator: ChildGenerator) -> None:
    evidence = LONG[:2000]
    first = ask(generator, f"{evidence}\nWhen does it open?")[-1]
    second = ask(generator, f"{evidence}\nWhen does it close?")[-1]
    assert first.reused_tokens < 50
    assert second.reused_tokens > 0.9 * second.prompt_tokens


def test_the_length_limit_stops_and_says_so(generator: ChildGenerator) -> None:
    last = ask(generator, "Tell me a long story.", replace(GREEDY, max_tokens=5))[-1]
    assert (last.output_tokens, last.stop_reason) == (5, "length")


def test_a_stop_string_ends_the_answer_and_is_not_part_of_it(generator: ChildGenerator) -> None:
    last = forced(generator, "one two three", stop=("o th", "never"))[-1]
    assert (last.text, last.stop_reason) == ("one tw", "stop")


def test_characters_split_over_tokens_arrive_whole(generator: ChildGenerator) -> None:
    steps = forced(generator, "ñandú 🦙 日本 ‰")
    assert steps[-1].text == "ñandú 🦙 日本 ‰"
    assert not any("\ufffd" in step.text for step in steps)


def test_a_grammar_holds_when_sampling_too(generator: ChildGenerator) -> None:
    settings = replace(GREEDY, temperature=1.5, top_p=1.0, grammar='root ::= ("red" | "green") " " [0-9]+ "."')
    for seed in range(5):
        text = ask(generator, "A colour and a number?", replace(settings, seed=seed, max_tokens=40))[-1].text
        colour, number = text.rstrip(".").split(" ")
        assert colour in ("red", "green")
        assert number.isdigit()


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"properties": {"name": {"type": "string"}, "below": {"items": {"$ref": "#"}}}}, "refers to itself"),
        ({"$defs": {"tree": {"properties": {"below": {"$ref": "#/$defs/tree"}}}}, "$ref": "#/$defs/tree"}, "to itself"),
        ({"enum": [f"number {n}" for n in range(20_000)]}, "characters"),
    ],
    ids=["a tree", "a tree among the definitions", "more than 256 KiB of grammar"],
)
def test_a_schema_that_no_grammar_can_hold_says_so_and_the_model_lives_on(
    generator: ChildGenerator, schema: object, words: str
) -> None:
    [*_, last] = ask(generator, "Hello", replace(GREEDY, json_schema=json.dumps(schema)))
    assert last.state == "error"
    assert words in last.error
    assert "ask without a grammar" in last.error
    assert generator.count_tokens("alive") > 0


@pytest.mark.parametrize("grammar", ["root ::= (", 'other ::= "a"', "root ::= missing", 'root ::= root "a"', " ", "?"])
def test_a_bad_grammar_is_an_error_and_the_model_lives_on(generator: ChildGenerator, grammar: str) -> None:
    [*_, last] = ask(generator, "Hello", replace(GREEDY, grammar=grammar))
    assert last.state == "error"
    assert "grammar" in last.error
    assert ask(generator, "Hello")[-1].state == "complete"


def test_special_tokens_of_a_prompt_are_parsed(generator: ChildGenerator) -> None:
    assert generator.count_tokens("<|im_start|>") == 1
    assert generator.count_tokens("") == 0
    assert generator.count_tokens("Paris \ud800 \x00") > 1


def test_an_empty_prompt_is_an_error_in_words(generator: ChildGenerator) -> None:
    assert [step.error for step in generator.generate("", GREEDY)] == ["The prompt is empty."]


def test_a_prompt_that_does_not_fit_is_refused_with_the_numbers(generator: ChildGenerator) -> None:
    tokens = generator.count_tokens(LONG)
    with pytest.raises(BudgetError, match=f"{tokens} prompt tokens and 2000 .* 4096"):
        generator.generate(LONG, replace(GREEDY, max_tokens=2000))
    assert ask(generator, "Hello")[-1].state == "complete"


def test_cancel_takes_effect_in_the_middle_of_the_prompt(generator: ChildGenerator) -> None:
    cancel = threading.Event()
    steps = []
    for step in generator.generate("Fresh start. " + LONG, GREEDY, cancel):
        cancel.set()
        steps.append(step)
    assert [step.state for step in steps] == ["started", "cancelled"]
    assert steps[-1].prompt_tokens > 3000
    assert (steps[-1].output_tokens, steps[-1].stop_reason) == (0, "cancelled")
    started = next(generator.generate("Fresh start. " + LONG, GREEDY))
    assert started.reused_tokens < 3000, "the whole prompt had been computed"


def test_cancel_takes_effect_while_answering(generator: ChildGenerator) -> None:
    cancel = threading.Event()
    steps = []
    for step in generator.generate("Once upon a time", replace(GREEDY, max_tokens=1000), cancel):
        if step.output_tokens > 3:
            cancel.set()
        steps.append(step)
    assert steps[-1].state == "cancelled"
    assert 3 < steps[-1].output_tokens < 200


def test_an_answer_that_nobody_reads_any_more_is_given_up(generator: ChildGenerator) -> None:
    reading = generator.generate("Once upon a time", replace(GREEDY, max_tokens=3000))
    next(reading)
    reading.close()
    assert ask(generator, "Hello")[-1].state == "complete"


def test_tokens_are_counted_while_the_model_answers(generator: ChildGenerator) -> None:
    reading = generator.generate("Once upon a time", replace(GREEDY, max_tokens=200))
    assert next(reading).state == "started"
    assert generator.count_tokens("What is this?") == 4
    rest = list(reading)
    assert rest[-1].output_tokens > 20


def test_two_threads_get_each_their_own_answer(generator: ChildGenerator) -> None:
    answers: dict[str, str] = {}

    def work(text: str) -> None:
        answers[text] = forced(generator, text)[-1].text

    threads = [threading.Thread(target=work, args=(text,)) for text in ("alpha beta", "gamma delta")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {"alpha beta": "alpha beta", "gamma delta": "gamma delta"}


def test_loading_tells_its_progress_and_what_is_in_memory() -> None:
    told: list[LoadProgress] = []
    loaded = load_generator(read_header(model_path()), LoadSettings(context=1000, kv_type="q8_0"), told.append)
    try:
        fractions = [progress.fraction for progress in told]
        assert fractions == sorted(fractions)
        assert fractions[-1] == 1.0
        assert len(fractions) > 10
        assert told[-1].model == loaded.model
        model = loaded.model
        assert model.context == 1024, "the engine rounds up to 256"
        assert abs(model.memory.weights / 1e6 - 96.6) < 1
        predicted = estimate(model.file, model.settings)
        assert predicted
        assert abs(model.memory.kv_cache - predicted.kv_cache) < 1e5
        assert model.memory.compute > 0
        assert loaded.gauges().rss > model.memory.weights
        assert ask(loaded, "What is the capital of France?")[-1].state == "complete"
    finally:
        loaded.close()
    assert not psutil.pid_exists(loaded.model.pid)
    assert loaded.gauges().rss == 0
    with pytest.raises(EngineError, match="not loaded"):
        loaded.count_tokens("Hello")
    loaded.close()


def test_a_load_can_be_cancelled() -> None:
    cancel = threading.Event()
    told: list[float] = []

    def progress(step: LoadProgress) -> None:
        told.append(step.fraction)
        cancel.set()

    with pytest.raises(Cancelled):
        load_generator(read_header(model_path()), LoadSettings(), progress, cancel)
    assert 1.0 not in told


@pytest.mark.parametrize(
    ("settings", "title"),
    [
        (LoadSettings(kv_type="q8_0", flash_attention=False), "The KV type q8_0 can't be used"),
        (LoadSettings(context=2_000_000_000), "No room for this context"),
    ],
)
def test_impossible_settings_are_refused_in_words(settings: LoadSettings, title: str) -> None:
    with pytest.raises(EngineError) as refused:
        load_generator(read_header(model_path()), settings)
    assert refused.value.title == title
    assert refused.value.remedy


@pytest.mark.parametrize("settings", [LoadSettings(context=0), LoadSettings(batch=0), LoadSettings(threads=-1)])
def test_settings_out_of_range_are_refused(settings: LoadSettings) -> None:
    with pytest.raises(UsageError, match="start at"):
        load_generator(read_header(model_path()), settings)


def test_without_an_engine_it_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert engine_available() == ""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert engine_available() == "llama-cpp-python is not installed"
    with pytest.raises(EngineError, match="make engine"):
        load_generator(read_header(model_path()))


def test_a_missing_file_is_refused_before_any_process_starts(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="no such file"):
        load_generator(read_header(tmp_path / "gone.gguf"), LoadSettings())
