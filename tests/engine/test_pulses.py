"""A loaded model tells several times a second how its process is, also while it reads a prompt."""

from __future__ import annotations

import itertools
import statistics
from dataclasses import replace

import pytest

from workbench.engine.client import ChildGenerator
from workbench.records.answers import Message
from workbench.records.models import GenerationSettings

pytestmark = pytest.mark.model
GREEDY = GenerationSettings(max_tokens=16)
LONG = "The harbour master writes down every ship. " * 70


def test_the_prompt_s_reading_is_told_as_it_goes_and_ends_where_the_prompt_does(generator: ChildGenerator) -> None:
    steps = list(generator.generate(f"First of all. {LONG}", GREEDY))
    read = [step.prefilled_tokens for step in steps if step.state == "started"]
    assert len(read) > 3
    assert read == sorted(read)
    assert steps[-1].prefilled_tokens == steps[-1].prompt_tokens > read[-1]
    rates = [step.prefill_tps for step in steps if step.state == "started" and step.prefilled_tokens > 50]
    assert all(rate and rate > 1 for rate in rates)


def test_the_child_beats_while_it_computes(generator: ChildGenerator) -> None:
    before = len(generator.pulses())
    *_, last = generator.generate(f"Second of all. {LONG}", GREEDY)
    pulses = generator.pulses()[before:]
    busy = [pulse for pulse in pulses if pulse.generation and pulse.generation.state == "started"]
    assert len(busy) > 3
    gaps = [later.at - earlier.at for earlier, later in itertools.pairwise(pulses)]
    assert statistics.median(gaps) < 0.2  # five a second or more, by the child's own clock
    assert pulses[-1].gauges.rss > 100_000_000
    assert all(earlier.held <= later.held for earlier, later in itertools.pairwise(busy))
    assert pulses[-1].held <= last.prompt_tokens + last.output_tokens
    assert pulses[-1].context == generator.model.context


def test_the_engine_s_clocks_tell_reading_and_writing_apart(generator: ChildGenerator) -> None:
    *_, last = generator.generate(f"Third of all. {LONG}", GREEDY)
    times = last.engine
    assert times
    assert times.prompt_tokens == last.prompt_tokens - last.reused_tokens
    assert times.decode_tokens == last.output_tokens - 1
    assert times.prefill_tps
    assert times.decode_tps
    assert times.prompt_ms + times.decode_ms <= last.duration_ms


def test_tokens_of_a_prompt_show_the_special_ones(generator: ChildGenerator) -> None:
    tokens = generator.tokens(generator.render([Message("user", "Año <|im_end|> 🦙")]))
    assert [token.text for token in tokens if token.special][:2] == ["<|im_start|>", "<|im_end|>"]
    assert {token.text for token in tokens if token.end} == {"<|im_end|>"}
    plain = generator.tokens("Año nuevo")
    assert "".join(token.text for token in plain) == "Año nuevo"
    assert not any(token.special for token in plain)


def test_a_schema_keeps_the_answer_in_form(generator: ChildGenerator) -> None:
    schema = '{"type": "object", "properties": {"sea": {"type": "boolean"}}, "required": ["sea"]}'
    prompt = generator.render([Message("user", "Is the sea blue?")])
    *_, last = generator.generate(prompt, replace(GREEDY, json_schema=schema))
    assert last.text.replace(" ", "") in ('{"sea":true}', '{"sea":false}')


@pytest.mark.parametrize("schema", ["{", "[]", '{"$ref": "https://example.org/s.json"}', '{"type": "unheard-of"}'])
def test_a_schema_the_engine_cannot_use_is_an_error_in_words(generator: ChildGenerator, schema: str) -> None:
    *_, last = generator.generate("Hello", replace(GREEDY, json_schema=schema))
    assert (last.state, last.stop_reason) == ("error", "error")
    assert last.error.startswith("The engine can't make a grammar of the schema: ")


def test_a_repeat_penalty_and_min_p_change_what_is_sampled(generator: ChildGenerator) -> None:
    prompt = generator.render([Message("user", "Say: sea sea sea sea sea sea")])
    settings = replace(GREEDY, max_tokens=40)
    *_, free = generator.generate(prompt, settings)
    *_, penalised = generator.generate(prompt, replace(settings, repeat_penalty=1.8))
    assert penalised.text != free.text
    warm = replace(settings, temperature=2.0, top_k=0, top_p=1.0, seed=3)
    *_, wild = generator.generate(prompt, warm)
    *_, narrow = generator.generate(prompt, replace(warm, min_p=1.0))
    assert wild.text != narrow.text == free.text
