"""promptfoo's assertions as what a case expects, and back; each that has no equal here is told.

Several that ask for text (contains and its kin, starts-with, regex, and their ``not-`` forms) become one pattern.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from workbench.i18n import tr
from workbench.records.cases import Expectation

_REFERENCES: Final = frozenset(
    {"similar", "factuality", "model-graded-factuality", "rouge-n", "bleu", "levenshtein", "answer-relevance"}
)
_CRITERIA: Final = frozenset({"llm-rubric", "model-graded-closedqa", "g-eval"})
_NOT: Final = "not-"
_OWN_FLAGS: Final = re.compile(r"\(\?([aimsx]+)\)")
_NUMBERED: Final = re.compile(r"\\[1-9]|\(\?P[<=]|\(\?\(")  # refers to groups by number or name


@dataclass(slots=True)
class Taken:
    """What a test's assertions become.

    Attributes:
        notes: what was left out or means another thing here, each with its line.
    """

    answers: list[str] = field(default_factory=list)
    criteria: list[str] = field(default_factory=list)
    checks: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    patterns: list[tuple[str, str]] = field(default_factory=list)
    notes: list[tuple[int, str]] = field(default_factory=list)

    def take(self, line: int, assertion: Any) -> None:
        """Puts one assertion where it belongs, or notes why not."""
        kind = str(assertion.get("type", "")) if isinstance(assertion, Mapping) else ""
        value = assertion.get("value") if isinstance(assertion, Mapping) else None
        if isinstance(value, str) and value.startswith("file://"):
            self.notes.append((line, tr("the assertion “{kind}” reads a file: it was left out", kind=kind)))
        elif kind in _REFERENCES and isinstance(value, str):
            self.answers.append(value)
            told = tr("“{kind}” became a reference answer: answers are held against its words here", kind=kind)
            self.notes.append((line, told))
        elif kind in _CRITERIA and isinstance(value, str):
            self.criteria.append(value)
        elif (pattern := _pattern(kind, value)) is not None:
            self.patterns.append((kind, pattern))
        elif (check := _check(kind, value)) is not None:
            self._check(line, kind, check)
        else:
            self.notes.append((line, tr("the assertion “{kind}” has no equal here: it was left out", kind=kind or "?")))

    def row(self) -> dict[str, Any]:
        """The fields of a case."""
        found: dict[str, Any] = {"answers": self.answers, "criterion": "\n".join(self.criteria)}
        expectation = self.checks[0][1] if self.checks else self._joined()
        return {**found, "expectation": expectation} if expectation else found

    def settle(self, line: int) -> None:
        """Notes the patterns that can't go along: a case has one check."""
        if self.checks:
            self.notes += [(line, _one_check(kind)) for kind, _ in self.patterns]
        elif len(self.patterns) > 1:
            kept = [pair for pair in self.patterns if not _NUMBERED.search(pair[1])] or self.patterns[:1]
            self.notes += [(line, _one_check(kind)) for kind, text in self.patterns if (kind, text) not in kept]
            self.patterns = kept

    def _check(self, line: int, kind: str, check: dict[str, Any]) -> None:
        if self.checks:
            self.notes.append((line, _one_check(kind)))
        else:
            self.checks.append((kind, check))

    def _joined(self) -> dict[str, Any] | None:
        """One pattern that matches where all do."""
        if not self.patterns:
            return None
        if len(self.patterns) == 1 and not self.patterns[0][0].startswith(_NOT):
            return {"kind": "regex", "value": self.patterns[0][1]}
        parts = "".join(_ahead(text, negative=kind.startswith(_NOT)) for kind, text in self.patterns)
        return {"kind": "regex", "value": rf"\A{parts}"}


def assertion_of(expectation: Expectation) -> dict[str, Any] | None:
    """The assertion that asks for the same, None where promptfoo has none (a number, F1, rows)."""
    match expectation.kind:
        case "exact":
            return {"type": "equals", "value": expectation.value}
        case "regex":
            return {"type": "regex", "value": expectation.value}
        case "json_schema":
            return {"type": "is-json", "value": json.loads(expectation.value)}
    return None


def _one_check(kind: str) -> str:
    return tr("a case has one check: “{kind}” was left out", kind=kind)


def _pattern(kind: str, value: Any) -> str | None:
    """What is searched for in the output, None where the assertion asks for something else."""
    kind = kind.removeprefix(_NOT)
    many = [re.escape(str(item)) for item in (value if isinstance(value, list) else [value])]
    blind = "(?i)" if kind.startswith("icontains") else ""
    match kind.removeprefix("i") if blind else kind:
        case "regex" if isinstance(value, str):
            return value
        case "starts-with" if isinstance(value, str):
            return rf"\A{many[0]}"
        case "contains" if isinstance(value, (str, int, float)):
            return blind + many[0]
        case "contains-any" if isinstance(value, list):
            return blind + "|".join(many)
        case "contains-all" if isinstance(value, list):
            return f"(?s){blind}\\A" + "".join(f"(?=.*{item})" for item in many)
    return None


def _check(kind: str, value: Any) -> dict[str, Any] | None:
    match kind:
        case "equals" if isinstance(value, (str, int, float)):
            return {"kind": "exact", "value": str(value)}
        case "is-json" | "contains-json" if value is None or isinstance(value, dict):
            return {"kind": "json_schema", "value": json.dumps(value or {}, ensure_ascii=False)}
    return None


def _ahead(pattern: str, *, negative: bool) -> str:
    """Looks for the pattern anywhere, from the beginning on; its flags stay its own."""
    flags = "".join(_OWN_FLAGS.findall(pattern))
    bare = _OWN_FLAGS.sub("", pattern)
    scoped = f"(?{flags}:{bare})" if flags else f"(?:{bare})"
    anchored = bare.startswith(r"\A")
    return f"(?{'!' if negative else '='}{'' if anchored else '(?s:.*?)'}{scoped})"
