"""Model tasks: what passes, what is wrong, what isn't even in the right form, and what can't be checked."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.driver import connect
from storage.fixture import FixtureRunner
from workbench.errors import FileError, NotFoundError, QueryError, UsageError, WorkbenchError
from workbench.evals.tasks.checks import check, same_rows
from workbench.evals.tasks.numbers import quantities
from workbench.ports import ResultSet
from workbench.records.cases import Expectation
from workbench.records.evals import CheckResult


def verdict(kind: str, value: str, output: str, language: str = "", tolerance: float = 0.0) -> str:
    """ "" when it passes, else the kind of failure."""
    result = check(Expectation(kind, value, tolerance), output, language=language)  # type: ignore[arg-type]  # the tests' own words
    assert result.passed == (not result.failure) == (not result.reason)
    return result.failure


WRONG, FORM = "wrong_answer", "wrong_format"


@pytest.mark.parametrize(
    ("value", "output", "failure"),
    [
        ("Paris", " paris.\n", ""),
        ("Paris", "```\nParis\n```", ""),
        ("Paris", "“Paris”", ""),
        ("21 días", "21  DÍAS", ""),
        ("21 días", "21 dias", WRONG),
        ("1.5", "15", WRONG),
        ("C++", "C", WRONG),
        ("año", "an\u0303o", ""),
        ("Paris", "Paris is the capital", WRONG),
    ],
)
def test_exact(value: str, output: str, failure: str) -> None:
    assert verdict("exact", value, output) == failure


def test_f1_passes_from_its_lowest_on() -> None:
    result = check(Expectation("f1", "the laser cutter is closed", 0.6), "The laser is closed today")
    assert result.score == pytest.approx(2 * 3 / (4 + 4))
    assert result.passed
    low = check(Expectation("f1", "the laser cutter is closed", 0.8), "The laser is closed today")
    assert (low.passed, low.failure, low.score) == (False, WRONG, result.score)


@pytest.mark.parametrize(
    ("text", "language", "values"),
    [
        ("1,234.5", "", (1234.5,)),
        ("1.234,5", "", (1234.5,)),
        ("1 234,5".replace(" ", "\u202f"), "", (1234.5,)),
        ("1'234.50", "", (1234.5,)),
        ("1.234", "", (1.234, 1234.0)),
        ("1.234", "en", (1.234,)),
        ("1.234", "es", (1234.0,)),
        ("1,234", "en", (1234.0,)),
        ("3.5", "es", (3.5,)),
        ("1.234.567", "en", (1234567.0,)),
        ("12.", "", (12.0,)),
        (".5", "", (0.5,)),
        ("−3", "", (-3.0,)),
        ("10-20", "", (20.0,)),
        ("1.5e3", "", (1500.0,)),
        ("error E07 of H2O", "", ()),
        ("1.2.3", "", ()),
        ("9" * 400, "", ()),
    ],
)
def test_the_last_number_of_a_text(text: str, language: str, values: tuple[float, ...]) -> None:
    found = quantities(text, language)
    assert (found[-1].values if found else ()) == values


@given(st.floats(-1e12, 1e12), st.sampled_from(["en", "es"]))
def test_a_number_written_in_either_notation_is_read_back(value: float, language: str) -> None:
    written = f"{value:,.3f}"
    if language == "es":
        written = written.translate(str.maketrans(",.", ".,"))
    assert any(math.isclose(v, float(f"{value:.3f}"), abs_tol=1e-9) for v in quantities(written, language)[-1].values)


@pytest.mark.parametrize(
    ("value", "output", "failure"),
    [
        ("118.5", "The fee is 118,50 euros.", ""),
        ("118.5 €", "The fee is 118,50 euros, due on 3 September.", ""),
        ("118.5 €", "$118.50", WRONG),
        ("1.5 kg", "That makes 1,500 g in all.", ""),
        ("1.5 kg", "1500", WRONG),
        ("90 min", "an hour and a half, or 1.5 h", ""),
        ("42", "First 40, then 42", ""),
        ("42", "42 or rather 41", WRONG),
        ("42", "forty-two", FORM),
        ("-3", "minus: -3", ""),
        ("1234.5", "1.234,5", ""),
        ("12 %", "12 por ciento", ""),
    ],
)
def test_numeric(value: str, output: str, failure: str) -> None:
    assert verdict("numeric", value, output) == failure


def test_numeric_within_tolerance_and_no_further() -> None:
    assert verdict("numeric", "3.14159", "3.14", tolerance=0.01) == ""
    assert verdict("numeric", "3.14159", "3.13", tolerance=0.01) == WRONG


def test_regex() -> None:
    assert verdict("regex", r"^\d{4}-\d\d-\d\d$", "2026-09-03") == ""
    assert verdict("regex", r"(?i)monday", "On Tuesday") == WRONG
    with pytest.raises(UsageError, match="longer than 1 seconds"):
        verdict("regex", r"(a|a)+$", "a" * 60 + "b")


@pytest.mark.parametrize(
    ("output", "failure"),
    [
        ('{"city": "Soria", "year": 2026}', ""),
        ('Here it is:\n```json\n{"city": "Soria", "year": 2026}\n```\nAnything else?', ""),
        ('{"city": "Soria"}', FORM),
        ('{"city": "soria", "year": 2026}', FORM),
        ('{"city": "Soria", "year": NaN}', FORM),
        ("Soria", FORM),
        ("[" * 100_000, FORM),
    ],
)
def test_json_schema(output: str, failure: str) -> None:
    schema = """{"type": "object", "required": ["city", "year"],
        "properties": {"city": {"type": "string", "pattern": "^[A-Z]"}, "year": {"type": "integer"}}}"""
    assert verdict("json_schema", schema, output) == failure


@pytest.mark.parametrize(
    ("schema", "output"),
    [
        ("{", "1"),
        ('{"type": "colour"}', "1"),
        ('{"$ref": "https://example.org/schema.json"}', "1"),
        ('{"pattern": "(a|a)+$"}', f'"{"a" * 60}b"'),
        ('{"$ref": "#"}', "1"),
    ],
)
def test_a_schema_that_cant_be_applied_fetches_nothing_and_leaves_the_case_unscored(schema: str, output: str) -> None:
    with pytest.raises(UsageError):
        verdict("json_schema", schema, output)


# -- SQL: total() of nothing is 0.0, sum() is NULL ------------------------------------------------------------------


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    connection = connect(path, "create")
    connection.executescript("""
        CREATE TABLE sale (campus TEXT, amount REAL, day TEXT);
        INSERT INTO sale VALUES ('Norte', 10, '2026-01-02'), ('Sur', 0.1, '2026-01-03'), ('Sur', 0.2, '2026-01-04'),
            ('Este', NULL, '2026-02-01');
    """)
    connection.close()
    return path


def ask(shop: Path, expected: str, output: str, *, ordered: bool = False, tolerance: float = 0.0) -> CheckResult:
    expectation = Expectation("sql", expected, tolerance, fixture=str(shop), ordered=ordered)
    return check(expectation, output, sql=FixtureRunner(time_limit=0.5, row_limit=100))


TOTALS = "SELECT campus, sum(amount) FROM sale GROUP BY campus ORDER BY 1"


@pytest.mark.parametrize(
    ("output", "failure"),
    [
        ("SELECT campus, sum(amount) AS total FROM sale GROUP BY campus ORDER BY total DESC;", ""),
        ("Sure!\n```sql\nSELECT campus, sum(amount) FROM sale GROUP BY 1\n```", ""),
        (
            "WITH s AS (SELECT * FROM sale) SELECT campus, total(amount) FROM s GROUP BY campus",
            WRONG,
        ),
        ("SELECT sum(amount), campus FROM sale GROUP BY campus", WRONG),
        ("SELECT campus FROM sale", WRONG),
        ("SELECT campus, amount FROM sale", WRONG),
        ("SELECT campus, sum(price) FROM sale GROUP BY campus", WRONG),
        ("The query is SELECT 1", FORM),
        ("", FORM),
        ("DROP TABLE sale", FORM),
        ("SELECT 1; DROP TABLE sale", FORM),
        ("PRAGMA table_info(sale)", FORM),
    ],
)
def test_sql_is_judged_by_its_rows(shop: Path, output: str, failure: str) -> None:
    before = shop.read_bytes()
    assert ask(shop, TOTALS, output).failure == failure
    assert shop.read_bytes() == before
    assert list(shop.parent.iterdir()) == [shop]


def test_sql_order_counts_where_the_case_says_so(shop: Path) -> None:
    expected, output = "SELECT day FROM sale ORDER BY day", "SELECT day FROM sale ORDER BY day DESC"
    assert ask(shop, expected, output).passed
    assert ask(shop, expected, output, ordered=True).reason == "wrong order: row 1 differs"


def test_sql_rounding_is_as_the_case_allows(shop: Path) -> None:
    assert ask(shop, "SELECT 0.3", "SELECT sum(amount) FROM sale WHERE campus = 'Sur'").passed
    assert not ask(shop, "SELECT 3.14159", "SELECT 3.14").passed
    assert ask(shop, "SELECT 3.14159", "SELECT 3.14", tolerance=0.01).passed
    assert ask(shop, "SELECT 2", "SELECT 2.0").passed
    assert not ask(shop, "SELECT 2", "SELECT '2'").passed


def test_a_row_twice_is_not_a_row_once() -> None:
    def rows(*values: int) -> ResultSet:
        return ResultSet(("n",), tuple((value,) for value in values))

    assert same_rows(rows(2, 1, 1), rows(1, 2, 1), ordered=False) == ""
    assert same_rows(rows(1, 2, 2), rows(1, 1, 2), ordered=False) == "row 2 is not expected"


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("ATTACH 'other.db' AS other", "forbidden"),
        ("INSERT INTO sale VALUES ('x', 1, 'y')", "forbidden"),
        ("CREATE TEMP TABLE t (x)", "forbidden"),
        ("PRAGMA query_only = OFF", "forbidden"),
        ("SELECT load_extension('evil')", "forbidden"),
        ("SELECT zeroblob(900000000)", "forbidden"),
        ("VACUUM INTO 'copy.db'", "forbidden"),
        ("BEGIN", "forbidden"),
        ("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n", "slow"),
        ("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n", "large"),
        ("SELECT x FROM nowhere", "failed"),
        ("SELEC 1", "syntax"),
        ("SELECT 1\0", "syntax"),
        ("-- nothing", "syntax"),
    ],
)
def test_what_a_query_may_not_do(shop: Path, sql: str, kind: str) -> None:
    before = shop.read_bytes()
    with pytest.raises(QueryError) as caught:
        FixtureRunner(time_limit=0.3, row_limit=100).run(shop, sql)
    assert caught.value.kind == kind
    assert shop.read_bytes() == before
    assert list(shop.parent.iterdir()) == [shop]


def test_a_fixture_that_cant_be_used_leaves_the_case_unscored(shop: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        ask(tmp_path / "none.db", "SELECT 1", "SELECT 1")
    (tmp_path / "text.db").write_text("this is no database, whatever its name says" * 50)
    with pytest.raises(FileError):
        ask(tmp_path / "text.db", "SELECT 1", "SELECT 1")
    with pytest.raises(UsageError, match="expected query fails"):
        ask(shop, "SELECT nonsense", "SELECT 1")


def test_a_fixture_that_another_program_is_writing_shows_what_it_committed(shop: Path) -> None:
    writer = connect(shop, "write")
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("DELETE FROM sale")
    writer.commit()
    assert FixtureRunner().run(shop, "SELECT count(*) FROM sale").rows == ((0,),)
    writer.close()


@given(st.text(max_size=40), st.sampled_from(["exact", "f1", "numeric", "regex", "json_schema"]))
def test_no_expectation_and_no_output_crash(text: str, kind: str) -> None:
    try:
        result = check(Expectation(kind, text), text)  # type: ignore[arg-type]  # a str of that Literal
    except WorkbenchError:
        return
    assert 0.0 <= result.score <= 1.0
