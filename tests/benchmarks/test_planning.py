"""What a bench measures: llama-bench's names, prompts dealt to the repetitions, plans that can't be carried out."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.benchmarks.planning import (
    check_plan,
    load_settings,
    prompt_tests,
    samples_of,
    speed_tests,
    visit_tests,
)
from workbench.benchmarks.shapes import Shape
from workbench.errors import UsageError
from workbench.records.benchmarks import BenchPlan
from workbench.records.models import LoadSettings

SHAPE = Shape((("supplier", "string"), ("amount", "number"), ("paid", "boolean")))


def test_tests_have_llama_benchs_names() -> None:
    names = [test.name for test in speed_tests(BenchPlan(depths=(0, 1024)))]
    assert names == ["pp512", "tg128", "pp512@d1024", "tg128@d1024"]
    assert [test.name for test in speed_tests(BenchPlan(prompt=0))] == ["tg128"]


@given(st.integers(1, 30))
def test_every_prompt_is_asked_once_whatever_the_repetitions(repetitions: int) -> None:
    plan = BenchPlan(repetitions=repetitions)
    asked = Counter(test.name for n in range(repetitions) for test in visit_tests(plan, n))
    assert {asked[test.name] for test in prompt_tests()} == {1}
    assert {asked[test.name] for test in speed_tests(plan)} == {repetitions}
    assert samples_of(plan) == sum(asked.values()) + repetitions


def test_prompts_are_spanish_and_english_short_and_long() -> None:
    texts = {test.name: test.text for test in prompt_tests() if test.shape is None}
    languages = {name.partition("/")[2][:2] for name in texts}
    assert languages == {"es", "en"}
    assert min(map(len, texts.values())) < 60
    assert max(map(len, texts.values())) > 1000


def test_the_context_grows_to_the_deepest_test() -> None:
    plan = BenchPlan(depths=(0, 6000), load=LoadSettings(context=1024))
    assert load_settings(plan).context == 6512
    assert load_settings(replace(plan, depths=(0,), felt=False)).context == 1024


@pytest.mark.parametrize(
    "plan",
    [
        BenchPlan(repetitions=0),
        BenchPlan(prompt=-1),
        BenchPlan(depths=()),
        BenchPlan(depths=(0, 0)),
        BenchPlan(prompt=0, generate=0, felt=False),
    ],
)
def test_a_plan_that_cannot_be_is_refused(plan: BenchPlan) -> None:
    with pytest.raises(UsageError, match="Bad plan"):
        check_plan(plan)


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ('{"supplier": "Robles", "amount": 412.5, "paid": false}', True),
        ('{"paid": true, "amount": 1, "supplier": ""}', True),
        ('```json\n{"supplier": "Robles", "amount": 412.5, "paid": false}\n```', False),
        ('{"supplier": "Robles", "amount": "412.5", "paid": false}', False),
        ('{"supplier": "Robles", "amount": true, "paid": false}', False),
        ('{"supplier": "Robles", "amount": 412.5, "paid": 0}', False),
        ('{"supplier": "Robles", "amount": 412.5}', False),
        ('{"supplier": "Robles", "amount": 412.5, "paid": false, "more": 1}', False),
        ("[]", False),
        ("", False),
        ("[" * 100_000, False),
    ],
)
def test_json_is_valid_when_a_program_could_read_it(text: str, valid: bool) -> None:
    assert SHAPE.holds(text) is valid


def test_the_schema_that_is_shown_names_every_key() -> None:
    schema = json.loads(SHAPE.schema())
    assert schema["required"] == ["supplier", "amount", "paid"]
    assert schema["properties"]["amount"] == {"type": "number"}
