"""Outputs held against a JSON Schema: is the shape right, and can the values be?"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import date
from typing import Any, Final

from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.records.playground import Fault, FaultKind
from workbench.text.json_schema import compile_schema, endless_or, strict_json, unfenced

INVOICE: Final = """{
  "type": "object",
  "properties": {
    "supplier": {"type": "string", "pattern": "\\\\S"},
    "amount": {"type": "number", "exclusiveMinimum": 0},
    "date": {"type": "string", "format": "date"},
    "concept": {"type": "string", "pattern": "\\\\S"}
  },
  "required": ["supplier", "amount", "date", "concept"],
  "additionalProperties": false
}"""
"""An example to begin with: the four fields of an invoice."""

OF_VALUES: Final = frozenset(
    """minimum exclusiveMinimum maximum exclusiveMaximum multipleOf format pattern enum const
    minLength maxLength minItems maxItems uniqueItems""".split()
)
"""Keywords that say which values can be; all others say what shape there is."""
MOST_FAULTS: Final = 8


class SchemaCheck:
    """A JSON Schema to hold outputs against.

    Raises:
        UsageError: it is no schema.
    """

    def __init__(self, schema: str) -> None:
        try:
            self._validator = compile_schema(schema, formats=True)
        except ValueError as error:
            raise UsageError(
                tr("The schema can't be used"), str(error), tr("Correct it, or take the example of an invoice.")
            ) from error

    def check(self, output: str) -> tuple[Any, tuple[Fault, ...]]:
        """The value of ``output``, or of the fenced block in it, dates as dates; and why it doesn't fit, shape first.

        The value is None where it doesn't fit.
        """
        try:
            value = strict_json(unfenced(output))
        except (ValueError, RecursionError) as error:
            return None, (Fault("$", "structural", tr("it is no JSON ({reason})", reason=error)),)
        try:
            found = [_fault(error) for error in self._validator.iter_errors(value)]
        except Exception as error:
            raise UsageError(tr("The schema can't be used"), endless_or(error), tr("Correct the schema.")) from error
        found.sort(key=lambda fault: fault.kind == "semantic")
        return (None if found else _typed(value, self._validator.schema)), tuple(found[:MOST_FAULTS])


def for_grammar(schema: str) -> str:
    """The schema without the patterns that match anywhere in a value: a grammar can hold whole values only.

    What the grammar so lets through, ``SchemaCheck`` finds.
    """
    return json.dumps(_anchored(json.loads(schema)))


def _anchored(value: Any) -> Any:
    if isinstance(value, list):
        return [_anchored(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {key: _anchored(part) for key, part in value.items() if key != "pattern" or _whole(part)}


def _whole(pattern: object) -> bool:
    """It is no pattern at all (a property of that name), or one of a whole value."""
    return not isinstance(pattern, str) or (pattern.startswith("^") and pattern.endswith("$"))


def correction(faults: Iterable[Fault]) -> str:
    """What the model is told so that it can do better."""
    told = "\n".join(f"- {fault.path}: {fault.message}" for fault in faults)
    return tr("That doesn't fit:\n{faults}\nAnswer again with the corrected JSON only.", faults=told)


def _fault(error: Any) -> Fault:
    kind: FaultKind = "semantic" if error.validator in OF_VALUES else "structural"
    return Fault(error.json_path, kind, _words(error))


def _words(error: Any) -> str:
    value, limit = error.instance, error.validator_value
    shown = f"{value!r:.80}" if not isinstance(value, str) else f"“{value:.80}”"
    match error.validator:
        case "type":
            return tr("{value} is no {type}", value=shown, type=limit if isinstance(limit, str) else " / ".join(limit))
        case "required":
            return tr("“{name}” is missing", name=next(name for name in limit if name not in value))
        case "exclusiveMinimum":
            return tr("{value} is not above {limit}", value=shown, limit=limit)
        case "minimum":
            return tr("{value} is below {limit}", value=shown, limit=limit)
        case "format" if limit == "date":
            return tr("{value} is no day of the calendar, as 2026-03-31", value=shown)
        case "pattern" if limit == r"\S":
            return tr("it is empty")
        case _:
            return f"{error.message:.160}"


def _typed(value: Any, schema: Any) -> Any:
    """``value`` with the dates of the schema's properties and items as dates."""
    if not isinstance(schema, dict):
        return value
    if isinstance(value, str) and schema.get("format") == "date":
        return date.fromisoformat(value)
    if isinstance(value, dict):
        known = schema.get("properties", {})
        return {key: _typed(part, known.get(key)) for key, part in value.items()}
    if isinstance(value, list):
        return [_typed(part, schema.get("items")) for part in value]
    return value
