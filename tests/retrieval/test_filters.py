"""The filter language: what people write, what they get wrong, and what an attacker would try."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import FilterError
from workbench.records.retrieval import AllOf, AnyOf, Comparison, Exists, FilterNode, Not, OneOf
from workbench.retrieval import filter_values
from workbench.retrieval.filters import EVERYTHING, combine, fields_of, format_filter, parse_filter

FIELDS = {
    "status": ("text",),
    "year": ("number",),
    "roles": ("list",),
    "valid_from": ("date",),
    "draft": ("bool",),
    "título": ("text",),
    "and": ("text",),
    "mixed": ("text", "number"),
}


def test_the_example_of_the_manual() -> None:
    assert parse_filter('status = current and year >= 2026 and "student" in roles', FIELDS) == AllOf(
        (
            Comparison("status", "=", "current"),
            Comparison("year", ">=", 2026),
            Comparison("roles", "contains", "student"),
        )
    )


@pytest.mark.parametrize(
    ("expression", "node"),
    [
        ("", EVERYTHING),
        ("  \n", EVERYTHING),
        ("year == 2026", Comparison("year", "=", 2026)),
        ("year != -2.5", Comparison("year", "!=", -2.5)),
        ("year in (2025, 2026)", OneOf("year", (2025, 2026))),
        ("not year in (2025)", Not(OneOf("year", (2025,)))),
        ("year not in (2025)", Not(OneOf("year", (2025,)))),
        ("student in roles", Comparison("roles", "contains", "student")),
        ('roles contains "student"', Comparison("roles", "contains", "student")),
        ("roles = student", Comparison("roles", "contains", "student")),
        ("roles != student", Not(Comparison("roles", "contains", "student"))),
        ("título like 'mat\\'rícula'", Comparison("título", "like", "mat'rícula")),
        ("EXISTS(draft) AND draft = true", AllOf((Exists("draft"), Comparison("draft", "=", True)))),
        ("valid_from < 2026-02-28", Comparison("valid_from", "<", date(2026, 2, 28))),
        ("status = 2", Comparison("status", "=", "2")),
        ("status = docs/a-b.v1.2", Comparison("status", "=", "docs/a-b.v1.2")),
        (
            "status = a or status = b and year = 1",
            AnyOf(
                (Comparison("status", "=", "a"), AllOf((Comparison("status", "=", "b"), Comparison("year", "=", 1))))
            ),
        ),
        (
            "(status = a or status = b) and year = 1",
            AllOf(
                (AnyOf((Comparison("status", "=", "a"), Comparison("status", "=", "b"))), Comparison("year", "=", 1))
            ),
        ),
    ],
)
def test_what_people_write(expression: str, node: FilterNode) -> None:
    assert parse_filter(expression, FIELDS) == node


@pytest.mark.parametrize(
    ("expression", "position", "says"),
    [
        ("yeer > 3", 0, "there is no field “yeer”"),
        ('year > "x"', 7, "“year” is of type number, but this is text"),
        ("year = true", 7, "but this is true or false"),
        ("valid_from >= 2026", 14, "“valid_from” is of type date"),
        ("valid_from = 2026-02-31", 13, "there is no day 2026-02-31"),
        ("draft < true", 8, "“draft” is true or false"),
        ("mixed > true", 8, "“mixed” is of type text / number, but this is true or false"),
        ("year >= today", 8, "“year” is of type number, but this is date"),
        ("`and = 3", 0, "never closed"),
        ("roles < 3", 8, "is a list"),
        ("year like 2", 10, "“like” can't be asked"),
        ("status = ", 8, "expected a value"),
        ('status = "open', 9, "never closed"),
        ("status & x", 7, "expected a comparison"),
        ("status ! x", 7, "this sign means nothing here"),
        ("status = a b", 11, "expected “and”, “or” or the end"),
        ("(status = a", 11, "expected “)”"),
        ("status = a and", 14, "expected the name of a field"),
        ("year in ()", 9, "expected a value"),
        ("= 3", 0, "expected the name of a field"),
        (f"year = {'9' * 400}", 7, "too large"),
    ],
)
def test_errors_point_at_the_fault(expression: str, position: int, says: str) -> None:
    with pytest.raises(FilterError) as caught:
        parse_filter(expression, FIELDS)
    assert caught.value.position == position
    assert says in caught.value.message
    line, caret = caught.value.message.splitlines()[-2:]
    assert len(caret) - 1 == min(position, 30) + 2
    assert line.strip()
    assert caught.value.remedy


def test_an_unknown_field_brings_the_nearest_names() -> None:
    with pytest.raises(FilterError) as caught:
        parse_filter("statsu = current", FIELDS)
    assert "status" in caught.value.remedy


def test_a_field_may_have_several_types_and_the_written_one_counts() -> None:
    assert parse_filter("mixed >= 2021", FIELDS) == Comparison("mixed", ">=", 2021)
    assert parse_filter('mixed = "2023"', FIELDS) == Comparison("mixed", "=", "2023")
    assert parse_filter("mixed in (2023, draft)", FIELDS) == OneOf("mixed", (2023, "draft"))


def test_a_filter_that_is_demanded_never_stops_a_search() -> None:
    demanded = 'year >= 2021 and gone = 1 and draft > "x"'
    assert parse_filter(demanded, {**FIELDS, "year": ("text",)}, strict=False) == AllOf(
        (Comparison("year", ">=", 2021), Comparison("gone", "=", 1), Comparison("draft", ">", "x"))
    )
    assert parse_filter("status != 2", FIELDS, strict=False) == Comparison("status", "!=", "2")


def test_names_that_are_words_of_the_language_go_in_backticks() -> None:
    assert parse_filter("`and` = x and `and` != y", FIELDS) == AllOf(
        (Comparison("and", "=", "x"), Comparison("and", "!=", "y"))
    )
    assert parse_filter("`123` = 1 and exists(`a b`)") == AllOf((Comparison("123", "=", 1), Exists("a b")))
    assert parse_filter('"x" in `or`') == Comparison("or", "contains", "x")
    with pytest.raises(FilterError) as caught:
        parse_filter("add = x", FIELDS)
    assert "`and`" in caught.value.remedy


def test_today_is_the_day_it_is_asked_and_text_where_the_field_has_no_dates(monkeypatch: pytest.MonkeyPatch) -> None:
    for day in (date(2026, 5, 31), date(2026, 6, 1)):
        monkeypatch.setattr(filter_values, "today", lambda day=day: day)
        assert parse_filter("valid_from <= today", FIELDS) == Comparison("valid_from", "<=", day)
    assert parse_filter("status = today", FIELDS) == Comparison("status", "=", "today")


def test_a_name_in_other_letter_case_is_suggested() -> None:
    with pytest.raises(FilterError) as caught:
        parse_filter("YEAR > 3", FIELDS)
    assert "year" in caught.value.remedy


@pytest.mark.parametrize(
    "hostile", ["(" * 10_000, "not " * 900, "(" * 2000 + ")" * 2000, "a=1 and " * 5000, "\x00", "((((a"]
)
def test_hostile_expressions_are_filter_errors(hostile: str) -> None:
    with pytest.raises(FilterError):
        parse_filter(hostile)


def test_text_of_one_filter_cannot_widen_another() -> None:
    mandatory = parse_filter("role = student")
    for attempt in ("year = 1 or year != 1", ") or (role = admin", "x = 1) or (1 = 1"):
        try:
            asked = parse_filter(attempt)
        except FilterError:
            continue
        joined = combine(mandatory, asked)
        assert isinstance(joined, AllOf)
        assert mandatory in joined.parts


def test_combine_of_nothing_is_everything() -> None:
    assert combine() == combine(EVERYTHING, EVERYTHING) == EVERYTHING
    assert combine(EVERYTHING, Exists("a")) == Exists("a")


names = st.from_regex(r"[a-zñ_][\w.\-]{0,6}", fullmatch=True).filter(
    lambda name: name.lower() not in {"and", "or", "not", "in", "contains", "like", "exists"}
)
scalars = st.one_of(
    st.text(max_size=12),
    st.integers(-(2**62), 2**62),
    st.floats(-1e15, 1e15),
    st.booleans(),
    st.dates(date(1000, 1, 1)),
)
leaves = st.one_of(
    st.builds(Comparison, names, st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "contains", "like"]), scalars),
    st.builds(OneOf, names, st.lists(scalars, min_size=1, max_size=3).map(tuple)),
    st.builds(Exists, names),
)


def _branches(nodes: st.SearchStrategy[FilterNode]) -> st.SearchStrategy[FilterNode]:
    several = st.lists(nodes, min_size=2, max_size=3)
    return st.one_of(
        nodes.map(Not),
        several.map(lambda parts: combine(*parts)),
        several.map(
            lambda parts: AnyOf(tuple(p for p in parts if not isinstance(p, AnyOf)) or (Exists("a"),) * 2)
        ).filter(lambda node: len(node.parts) > 1),
    )


@given(st.recursive(leaves, _branches, max_leaves=8))
def test_a_formatted_filter_parses_back(node: FilterNode) -> None:
    assert parse_filter(format_filter(node)) == node
    assert fields_of(node)


@given(st.text(max_size=60))
def test_any_text_parses_or_is_a_filter_error(text: str) -> None:
    try:
        node = parse_filter(text)
    except FilterError:
        return
    assert parse_filter(format_filter(node)) == node
