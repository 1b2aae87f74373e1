"""Model tasks: an output held against what its case expects. No corpus, no judge; every rule is in a docstring.

A case whose own expectation is broken (a pattern that doesn't compile, a fixture that isn't there) is an error to
report and stays unscored; an output is never failed for it.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from workbench.errors import QueryError, UsageError
from workbench.evals.metrics.answers import token_f1
from workbench.evals.tasks.numbers import difference, expected_quantity, quantities
from workbench.i18n import tr
from workbench.ports import ResultSet, SqlRunner, SqlValue
from workbench.records.cases import Expectation
from workbench.records.evals import CheckResult
from workbench.sqltools.taxonomy import fault_name, fault_of_error, fault_of_rows
from workbench.text.json_schema import PATTERN_SECONDS, compile_pattern, compile_schema, strict_json, unfenced

DEFAULT_F1: Final = 0.5
"""The lowest F1 that passes where the expectation names none."""

_LONGEST_OUTPUT: Final = 200_000  # characters a pattern or a parser is run over
_CLOSING: Final = " \t\r\n.\"'`“”«»"
_EXACT_ENOUGH: Final = 1e-9  # relative: what summing in another order changes

PASSED: Final = CheckResult(True, 1.0)


def check(expectation: Expectation, output: str, *, language: str = "", sql: SqlRunner | None = None) -> CheckResult:
    """Whether ``output`` is what ``expectation`` asks for.

    Args:
        language: of the case ("en", "es"): it decides numbers with two readings, and articles for F1.
        sql: runs queries, for expectations of kind "sql".

    Raises:
        UsageError: the expectation itself can't be checked; the case stays unscored.
        NotFoundError, FileError: its fixture can't be read.
    """
    output = output[:_LONGEST_OUTPUT]
    match expectation.kind:
        case "exact":
            return _exact(expectation, output)
        case "f1":
            return _f1(expectation, output, language)
        case "numeric":
            return _numeric(expectation, output, language)
        case "regex":
            return _regex(expectation, output)
        case "json_schema":
            return _json_schema(expectation, output)
        case "sql":
            return _sql(expectation, output, sql)
    raise _broken(tr("“{kind}” is no kind of check", kind=expectation.kind))


def check_expectation(expectation: Expectation) -> None:
    """Whether it can be checked at all, as far as that can be told without an output or a fixture.

    Raises:
        UsageError: it can't.
    """
    tests: dict[str, Callable[[Expectation], object]] = {
        "exact": lambda e: e.value.strip() or _empty(),
        "f1": lambda e: e.value.strip() or _empty(),
        "numeric": _expected,
        "regex": lambda e: _compiled(e.value),
        "json_schema": lambda e: _validator(e.value),
        "sql": lambda e: (e.value.strip() and e.fixture) or _empty(),
    }
    if expectation.kind not in tests:
        raise _broken(tr("“{kind}” is no kind of check", kind=expectation.kind))
    tests[expectation.kind](expectation)


def expected_rows(expectation: Expectation, sql: SqlRunner) -> ResultSet:
    """What the expected query of a kind "sql" gives on its fixture.

    Raises:
        UsageError: the query fails, or is none that reads.
        NotFoundError, FileError: the fixture can't be read.
    """
    try:
        return sql.run(Path(expectation.fixture), expectation.value)
    except QueryError as error:
        raise _broken(tr("the expected query fails: {reason}", reason=error.message)) from error


def could_still_pass(expectation: Expectation, output: str, *, language: str = "", readable: bool = True) -> bool:
    """Whether more of an output that failed, cut short as it was, could have been what is expected.

    Text could where the output begins it, F1 where the missing words would lift it, a number where none ends before
    the cut, a pattern where the output begins a match, JSON and SQL where they can't be read yet.

    Args:
        readable: whether ``check`` found the form that was asked for.
    """
    match expectation.kind:
        case "exact":
            return _bare(expectation.value).startswith(_bare(unfenced(output)))
        case "f1":
            said = output.casefold().split()
            missing = [word for word in expectation.value.split() if word.casefold() not in said]
            return _f1(expectation, " ".join([output, *missing]), language).passed
        case "numeric":
            return not quantities(output, language) or output[-1:].isdigit()
        case "regex":
            with suppress(TimeoutError):
                return _compiled(expectation.value).search(output, timeout=PATTERN_SECONDS, partial=True) is not None
            return True
        case "json_schema":
            return not _is_json(output)
    return not readable


def same_rows(said: ResultSet, expected: ResultSet, *, ordered: bool, tolerance: float = 0.0) -> str:
    """What tells two result sets apart, "" when they are the same.

    Column names don't count, their order does. Rows are compared in order when ``ordered``, else as a multiset (twice
    the same row is not once). Numbers are equal within ``tolerance`` or nine digits, whole or not; text, bytes and NULL
    equal only themselves: '1' is not 1.
    """
    widths = len(said.columns), len(expected.columns)
    if widths[0] != widths[1]:
        return tr("{said} columns, where {expected} are expected", said=widths[0], expected=widths[1])
    if len(said.rows) != len(expected.rows):
        return tr("{said} rows, where {expected} are expected", said=len(said.rows), expected=len(expected.rows))
    pairs = zip(said.rows, expected.rows, strict=True)
    differing = [n for n, (a, b) in enumerate(pairs, start=1) if not _same_row(a, b, tolerance)]
    if not differing:
        return ""
    if ordered:
        return tr("row {row} differs", row=differing[0])
    left = [expected.rows[n - 1] for n in differing]
    for n in differing:
        match = next((i for i, row in enumerate(left) if _same_row(said.rows[n - 1], row, tolerance)), None)
        if match is None:
            return tr("row {row} is not expected", row=n)
        del left[match]
    return ""


def _exact(expectation: Expectation, output: str) -> CheckResult:
    """Equal but for case, white space, a closing stop, and quotes or a fence around it. Accents count."""
    said, wanted = _bare(unfenced(output)), _bare(expectation.value)
    return PASSED if said == wanted else _wrong(tr("it is not “{expected}”", expected=_short(expectation.value)))


def _f1(expectation: Expectation, output: str, language: str) -> CheckResult:
    """Token F1 (SQuAD's) of at least ``tolerance``, which here is the lowest F1 that passes."""
    lowest = expectation.tolerance or DEFAULT_F1
    score = token_f1(output, [expectation.value], language) or 0.0
    if score >= lowest:
        return CheckResult(True, score)
    return _wrong(tr("its F1 is {score}, under {lowest}", score=f"{score:.2f}", lowest=f"{lowest:.2f}"), score)


def _numeric(expectation: Expectation, output: str, language: str) -> CheckResult:
    """The last number of the output (the last in a unit of the expected kind, when there is one) within tolerance."""
    expected = _expected(expectation)
    found = quantities(output, language)
    if not found:
        return _misformed(tr("there is no number in it"))
    in_kind = [quantity for quantity in found if expected.kind and quantity.kind == expected.kind]
    said = (in_kind or found)[-1]
    off = difference(said, expected)
    if off is None:
        return _wrong(tr("“{said}” is in another unit than “{expected}”", said=said.text, expected=expected.text))
    if off <= expectation.tolerance + abs(expected.values[0]) * _EXACT_ENOUGH:
        return PASSED
    return _wrong(tr("it says {said}, where {expected} is expected", said=said.text, expected=expected.text))


def _regex(expectation: Expectation, output: str) -> CheckResult:
    """The pattern is found in the output; anchors are the pattern's own business."""
    try:
        found = _compiled(expectation.value).search(output, timeout=PATTERN_SECONDS)
    except TimeoutError:
        raise _broken(tr("the pattern takes longer than {limit} seconds", limit=f"{PATTERN_SECONDS:g}")) from None
    return PASSED if found else _wrong(tr("the pattern is not in it"))


def _json_schema(expectation: Expectation, output: str) -> CheckResult:
    """The output, or the fenced block in it, is JSON that fits the schema. Anything else is a wrong format."""
    validator = _validator(expectation.value)
    try:
        value = strict_json(unfenced(output))
    except (ValueError, RecursionError) as error:
        return _misformed(tr("it is no JSON ({reason})", reason=error))
    from jsonschema.exceptions import best_match
    from referencing.exceptions import Unresolvable

    try:
        fault = best_match(validator.iter_errors(value))
    except (Unresolvable, TimeoutError, RecursionError, ValueError) as problem:
        raise _broken(tr("the schema can't be applied ({reason})", reason=problem)) from problem
    return _misformed(f"{fault.json_path}: {_short(fault.message)}") if fault else PASSED


def _sql(expectation: Expectation, output: str, sql: SqlRunner | None) -> CheckResult:
    """The output's query and the expected one give the same rows on the fixture (execution accuracy, as in Spider)."""
    if sql is None:
        raise _broken(tr("there is nothing here to run SQL with"))
    expected = expected_rows(expectation, sql)
    try:
        said = sql.run(Path(expectation.fixture), unfenced(output))
    except QueryError as error:
        fault = fault_of_error(error)
        reason = f"{fault_name(fault)}: {error.message}"
        checked = _misformed(reason) if error.kind in ("syntax", "forbidden") else _wrong(reason)
        return replace(checked, fault=fault)
    differs = same_rows(said, expected, ordered=expectation.ordered, tolerance=expectation.tolerance)
    if not differs:
        return PASSED
    only_order = expectation.ordered and not same_rows(said, expected, ordered=False, tolerance=expectation.tolerance)
    same_width = len(said.columns) == len(expected.columns)
    fault = fault_of_rows(unfenced(output), expectation.value, only_order=only_order, same_width=same_width)
    return replace(_wrong(f"{fault_name(fault)}: {differs}"), fault=fault)


def _is_json(output: str) -> bool:
    try:
        strict_json(unfenced(output))
    except (ValueError, RecursionError):
        return False
    return True


def _same_row(said: Sequence[SqlValue], expected: Sequence[SqlValue], tolerance: float) -> bool:
    return all(_same_value(a, b, tolerance) for a, b in zip(said, expected, strict=True))


def _same_value(a: SqlValue, b: SqlValue, tolerance: float) -> bool:
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b or math.isclose(a, b, rel_tol=_EXACT_ENOUGH, abs_tol=tolerance)
    return type(a) is type(b) and a == b


def _bare(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split()).strip(_CLOSING)


def _expected(expectation: Expectation) -> Any:
    found = expected_quantity(expectation.value)
    if found is None:
        raise _broken(tr("“{value}” is no number", value=_short(expectation.value)))
    return found


def _compiled(pattern: str) -> Any:
    try:
        return compile_pattern(pattern)
    except ValueError as error:
        raise _broken(str(error)) from error


def _validator(schema: str) -> Any:
    try:
        return compile_schema(schema)
    except ValueError as error:
        raise _broken(str(error)) from error


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:119] + "…"


def _wrong(reason: str, score: float = 0.0) -> CheckResult:
    return CheckResult(False, score, reason, "wrong_answer")


def _misformed(reason: str) -> CheckResult:
    return CheckResult(False, 0.0, reason, "wrong_format")


def _empty() -> object:
    raise _broken(tr("what is expected is empty"))


def _broken(reason: str) -> UsageError:
    return UsageError(tr("The case can't be checked"), reason, tr("Correct the case's expectation."))
