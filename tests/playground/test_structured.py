"""Outputs against a schema: the invoice of the exercise, its good answer and its bad ones, and hostile schemas."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import UsageError
from workbench.playground.structured import INVOICE, SchemaCheck, correction, for_grammar

GOOD: dict[str, Any] = {"supplier": "Norte S.L.", "amount": 184.30, "date": "2026-05-14", "concept": "Paper"}


def said(**changes: object) -> str:
    return json.dumps({**GOOD, **changes}, ensure_ascii=False)


def test_a_good_answer_becomes_data_with_a_real_date() -> None:
    value, faults = SchemaCheck(INVOICE).check(said())
    assert faults == ()
    assert value == {**GOOD, "date": date(2026, 5, 14)}
    assert value["date"].isoweekday() == 4


@pytest.mark.parametrize(
    ("output", "path", "kind", "words"),
    [
        (said(amount="cuarenta"), "$.amount", "structural", "“cuarenta” is no number"),
        (said(amount=-40), "$.amount", "semantic", "-40 is not above 0"),
        (said(amount=0), "$.amount", "semantic", "0 is not above 0"),
        (said(amount=True), "$.amount", "structural", "True is no number"),
        ('{"supplier": "N", "amount": 1, "date": "2026-05-14"}', "$", "structural", "“concept” is missing"),
        (said(date="2026-02-30"), "$.date", "semantic", "“2026-02-30” is no day of the calendar"),
        (said(date="14/05/2026"), "$.date", "semantic", "is no day of the calendar"),
        (said(date="20260514"), "$.date", "semantic", "is no day of the calendar"),
        (said(supplier="  "), "$.supplier", "semantic", "it is empty"),
        (said(iban="ES00"), "$", "structural", "iban"),
        ('{"supplier": "Norte', "$", "structural", "it is no JSON"),
        ("The invoice is from Norte S.L.", "$", "structural", "it is no JSON"),
        (said()[:-1] + ', "amount": 2}', "$", "structural", "“amount” is there twice"),
        ('{"supplier": "N", "amount": NaN, "date": "2026-05-14", "concept": "P"}', "$", "structural", "NaN"),
        ("[]", "$", "structural", "[] is no object"),
        ("", "$", "structural", "it is no JSON"),
        ("[" * 100_000, "$", "structural", "it is no JSON"),
    ],
)
def test_a_bad_answer_says_where_and_why(output: str, path: str, kind: str, words: str) -> None:
    value, faults = SchemaCheck(INVOICE).check(output)
    assert value is None
    assert (faults[0].path, faults[0].kind) == (path, kind)
    assert words in faults[0].message


def test_faults_of_shape_come_before_those_of_values_and_all_are_told_to_the_model() -> None:
    _, faults = SchemaCheck(INVOICE).check('{"supplier": 3, "amount": -1, "date": "x", "concept": "P"}')
    assert [fault.kind for fault in faults] == ["structural", "semantic", "semantic"]
    told = correction(faults)
    assert all(fault.path in told and fault.message in told for fault in faults)


def test_json_between_fences_and_prose_is_found() -> None:
    value, faults = SchemaCheck(INVOICE).check(f"Here it is:\n```json\n{said()}\n```\nAnything else?")
    assert not faults
    assert value["supplier"] == "Norte S.L."


@pytest.mark.parametrize("schema", ["", "{", "[]", "7", '{"type": 3}', '{"properties": []}'])
def test_a_schema_that_is_none_is_refused_before_anything_is_asked(schema: str) -> None:
    with pytest.raises(UsageError) as refused:
        SchemaCheck(schema)
    assert refused.value.title == "The schema can't be used"


def test_a_bad_schema_is_told_in_a_sentence_with_its_place() -> None:
    with pytest.raises(UsageError) as refused:
        SchemaCheck('{"properties": {"a": {"minimum": "low"}}}')
    assert refused.value.message == (
        "the schema can't be understood: $.properties.a.minimum: 'low' is not of type 'number'"
    )


@pytest.mark.parametrize(
    ("schema", "output"),
    [
        ('{"$ref": "https://example.org/a.json"}', "{}"),
        ('{"$ref": "#"}', "{}"),
        ('{"pattern": "(a|a)+$"}', json.dumps("a" * 60 + "b")),
        ('{"pattern": "("}', '"x"'),
    ],
)
def test_a_schema_that_fetches_loops_or_never_ends_is_refused_in_words(schema: str, output: str) -> None:
    with pytest.raises(UsageError, match="The schema can't be used"):
        SchemaCheck(schema).check(output)


def test_patterns_that_no_grammar_can_hold_are_left_to_the_check() -> None:
    schema = {"properties": {"pattern": {"pattern": "^[A-Z]{3}$"}, "b": {"items": [{"pattern": r"\\S"}]}}}
    left = json.loads(for_grammar(json.dumps(schema)))
    assert left == {"properties": {"pattern": {"pattern": "^[A-Z]{3}$"}, "b": {"items": [{}]}}}


@given(st.text())
def test_whatever_a_model_writes_is_a_value_or_a_fault(output: str) -> None:
    value, faults = SchemaCheck(INVOICE).check(output)
    assert (value is None) == bool(faults)


@pytest.mark.parametrize(
    "schema",
    [
        '{"$ref": "#"}',
        '{"allOf": [{"$ref": "#"}]}',
        '{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}',
        '{"$dynamicRef": "#"}',
    ],
)
def test_a_schema_that_goes_round_in_a_circle_is_refused_in_words(schema: str) -> None:
    with pytest.raises(UsageError) as refused:
        SchemaCheck(schema)
    assert "refers to itself without end" in refused.value.message


def test_a_schema_of_definitions_that_multiply_is_refused_before_it_takes_hours() -> None:
    steps = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 10} for n in range(9)}
    bomb = json.dumps({"$defs": {**steps, "d9": {"type": "integer"}}, "$ref": "#/$defs/d0"})
    with pytest.raises(UsageError) as refused:
        SchemaCheck(bomb)
    assert "more than 20,000 references" in refused.value.message


def test_a_bomb_within_a_property_goes_off_bounded() -> None:
    bomb = json.dumps({"properties": {"a": {"allOf": [{"$ref": "#"}] * 10}}})
    nested = '{"a": ' * 12 + "1" + "}" * 12
    with pytest.raises(UsageError) as refused:
        SchemaCheck(bomb).check(nested)
    assert "references" in refused.value.message


def test_a_tree_may_name_itself_for_its_branches() -> None:
    tree = SchemaCheck('{"properties": {"v": {"type": "integer"}, "c": {"items": {"$ref": "#"}}}, "required": ["v"]}')
    assert tree.check('{"v": 1, "c": [{"v": 2, "c": []}]}')[1] == ()
    assert [fault.path for fault in tree.check('{"v": 1, "c": [{"v": 2, "c": [{}]}]}')[1]] == ["$.c[0].c[0]"]
