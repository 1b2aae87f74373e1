"""promptfoo's tests in YAML or JSON: ``vars`` with the question, ``assert`` with what is expected of the output.

What maps: equals, contains and its kin, starts-with, regex, is-json and contains-json become the case's check;
similar, factuality, rouge-n, levenshtein, answer-relevance and the like give a reference answer; llm-rubric and
model-graded-closedqa a criterion. Everything else (code, cost, latency, …) is named, and the case comes in without it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from workbench.evals.formats.rows import RowError, case_from, case_id
from workbench.evals.formats.source import Format, Found, Locate, Source, TextOf, unreadable
from workbench.i18n import tr
from workbench.records.evals import Case, Expectation, RowProblem

_QUESTION: Final = ("question", "query", "prompt", "input", "user_input")
_REFERENCES: Final = frozenset({"similar", "factuality", "model-graded-factuality", "rouge-n", "bleu", "levenshtein"})
_CRITERIA: Final = frozenset({"llm-rubric", "model-graded-closedqa", "g-eval"})
_TESTS: Final = re.compile(r"^[ \t{]*[\"']?tests[\"']?[ \t]*:", re.MULTILINE)


def read(source: Source, _locate: Locate | None) -> Iterator[Found]:
    """A case a test. Raises DocumentError when the file isn't YAML or has no list of tests."""
    for line, test in _tests(source):
        notes: list[str] = []
        try:
            case = _case(test, notes)
        except RowError as error:
            yield RowProblem(line, str(error))
            continue
        yield line, case
        for note in notes:
            yield RowProblem(line, note, skipped=False)


def write(cases: Sequence[Case], path: Path, _text_of: TextOf) -> None:
    """A list of tests; ids travel as descriptions, answers as ``similar``."""
    text = yaml.safe_dump([_test(case) for case in cases], allow_unicode=True, sort_keys=False, width=100)
    path.write_text(text, "utf-8", newline="\n")


def _tests(source: Source) -> list[tuple[int, Any]]:
    """Each test with its line: the nodes are composed first, because values alone have no place."""
    try:
        loader = yaml.SafeLoader(source.text)
        root = loader.get_single_node()
        if isinstance(root, yaml.MappingNode):
            root = next((value for key, value in root.value if key.value == "tests"), None)
        nodes = root.value if isinstance(root, yaml.SequenceNode) else []
        found = [(node.start_mark.line + 1, loader.construct_object(node, deep=True)) for node in nodes]
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise unreadable(source.path, tr("it is no YAML ({reason})", reason=error)) from error
    if not found:
        raise unreadable(source.path, tr("there is no list of tests in it"))
    return found


def _case(test: Any, notes: list[str]) -> Case:
    if not (isinstance(test, Mapping) and isinstance(test.get("vars"), Mapping)):
        raise RowError(tr("a test without vars"))
    question = next((str(test["vars"][name]) for name in _QUESTION if test["vars"].get(name)), "")
    if not question:
        raise RowError(tr("its vars name no question, query, prompt or input"))
    row: dict[str, Any] = {"question": question, "answers": [], "criterion": ""}
    description = test.get("description")
    row["id"] = description if isinstance(description, str) and description.strip() else case_id(question)
    checks = test.get("assert") or []
    for check in checks if isinstance(checks, list) else [checks]:
        _take(check, row, notes)
    return case_from(row)


def _take(check: Any, row: dict[str, Any], notes: list[str]) -> None:
    """Puts one assertion where it belongs, or names it."""
    kind = str(check.get("type", "")) if isinstance(check, Mapping) else ""
    value = check.get("value") if isinstance(check, Mapping) else None
    if kind in _REFERENCES and isinstance(value, str):
        row["answers"].append(value)
        return
    if kind in _CRITERIA and isinstance(value, str):
        row["criterion"] = "\n".join(filter(None, (row["criterion"], value)))
        return
    expectation = _expectation(kind, value)
    if expectation is None:
        notes.append(tr("the assertion “{kind}” has no equal here: it was left out", kind=kind or "?"))
    elif "expectation" in row:
        notes.append(tr("a case has one check: “{kind}” was left out", kind=kind))
    else:
        row["expectation"] = expectation


def _expectation(kind: str, value: Any) -> dict[str, Any] | None:
    many = [str(item) for item in value] if isinstance(value, list) else [str(value)]
    quoted = [re.escape(item) for item in many]
    blind = "(?i)" if kind.startswith("i") else ""
    match kind.removeprefix("i") if kind.startswith("icontains") else kind:
        case "equals" if isinstance(value, (str, int, float)):
            return {"kind": "exact", "value": str(value)}
        case "regex" if isinstance(value, str):
            return {"kind": "regex", "value": value}
        case "starts-with" if isinstance(value, str):
            return {"kind": "regex", "value": rf"\A{quoted[0]}"}
        case "contains" if isinstance(value, (str, int, float)):
            return {"kind": "regex", "value": blind + quoted[0]}
        case "contains-any" if isinstance(value, list):
            return {"kind": "regex", "value": blind + "|".join(quoted)}
        case "contains-all" if isinstance(value, list):
            return {"kind": "regex", "value": f"(?s){blind}\\A" + "".join(f"(?=.*{item})" for item in quoted)}
        case "is-json" | "contains-json" if value is None or isinstance(value, dict):
            return {"kind": "json_schema", "value": json.dumps(value or {}, ensure_ascii=False)}
    return None


def _test(case: Case) -> dict[str, Any]:
    checks: list[dict[str, Any]] = []
    if case.expectation and (check := _assertion(case.expectation)):
        checks.append(check)
    checks += [{"type": "similar", "value": answer} for answer in case.answers]
    if case.criterion:
        checks.append({"type": "llm-rubric", "value": case.criterion})
    test = {"description": case.id, "vars": {"question": case.question}}
    return {**test, "assert": checks} if checks else test


def _assertion(expectation: Expectation) -> dict[str, Any] | None:
    match expectation.kind:
        case "exact":
            return {"type": "equals", "value": expectation.value}
        case "regex":
            return {"type": "regex", "value": expectation.value}
        case "json_schema":
            return {"type": "is-json", "value": json.loads(expectation.value)}
    return None  # promptfoo has no equal for a number, F1 or rows


def _recognises(source: Source) -> bool:
    if _TESTS.search(source.text):
        return True
    lines = (line for line in source.text.split("\n") if line.strip() and not line.startswith(("#", "---")))
    return next(lines, "").startswith(("- ", "[")) and ("vars:" in source.text or '"vars"' in source.text)


FORMAT = Format("promptfoo", read, _recognises, frozenset({"id", "question", "answers", "criterion"}), write)
