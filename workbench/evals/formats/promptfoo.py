"""promptfoo's configurations in YAML or JSON: prompts and tests, each test with ``vars`` and ``assert``.

With prompts, each of them filled with each test's variables is a case; without, a test's question is. A variable that
is a list makes a test for each of its values, and ``defaultTest`` joins every test. What assertions become is told in
``assertions``; everything else that has no equal here is named, and the case comes in without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from typing import Any, Final

import yaml

from workbench.evals.formats.assertions import Taken, assertion_of
from workbench.evals.formats.judgements import first_of
from workbench.evals.formats.prompts import Prompt, read_prompts
from workbench.evals.formats.rows import RowError, case_from, case_id
from workbench.evals.formats.source import Format, Found, Locate, Source, TextOf, unreadable
from workbench.i18n import tr
from workbench.records.cases import Case, RowProblem

_SHARED: Final = "assertionTemplates"
_QUESTION: Final = ("question", "query", "prompt", "input", "user_input")
_KNOWN: Final = frozenset({"description", "vars", "assert", "metadata", "provider", "providers"})
_WHOLE: Final = {"disableVarExpansion": True}
_MOST: Final = 1000  # tests that one test's lists of values make


@dataclass(frozen=True, slots=True)
class _Test:
    """One test; its assertions with their lines. ``expand``: a list of values makes a test of each."""

    line: int
    variables: Mapping[str, Any]
    assertions: Sequence[tuple[int, Any]]
    description: str = ""
    others: tuple[str, ...] = ()
    expand: bool = True


@dataclass(frozen=True, slots=True)
class _Config:
    """A configuration, each part of its lists with its line."""

    tests: Sequence[_Test | RowProblem]
    prompts: Sequence[tuple[int, Any]]


def read(source: Source, _locate: Locate | None) -> Iterator[Found]:
    """A case for each test and prompt. Raises DocumentError when the file isn't YAML or has neither."""
    config = _config(source)
    prompts: list[Prompt] = []
    for entry in read_prompts(list(config.prompts), source.path.parent):
        if isinstance(entry, Prompt):
            prompts.append(entry)
        else:
            yield entry
    if config.prompts and not prompts:
        return
    told: set[RowProblem] = set()  # what every test has is told once
    for test in config.tests:
        for found in [test] if isinstance(test, RowProblem) else _cases(test, prompts):
            if not (isinstance(found, RowProblem) and found in told):
                yield found
            if isinstance(found, RowProblem):
                told.add(found)


def write(cases: Sequence[Case], path: Path, _text_of: TextOf) -> None:
    """A list of tests; ids travel as descriptions, answers as ``similar``."""
    text = yaml.safe_dump([_test(case) for case in cases], allow_unicode=True, sort_keys=False, width=100)
    path.write_text(text, "utf-8", newline="\n")


# -- the file --------------------------------------------------------------------------------------------------------


class _Loader(yaml.SafeLoader):
    """Reads as YAML 1.2 does, and promptfoo: yes, on, = and 12:30 are words. PyYAML's own rules are YAML 1.1's."""

    def whole(self, node: yaml.ScalarNode) -> int:
        """0777 is decimal, 0o17 and 0x1f aren't."""
        text = self.construct_scalar(node)
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)


_SCALARS: Final = {
    "tag:yaml.org,2002:bool": (r"(?i:true|false)$", "tTfF"),
    "tag:yaml.org,2002:int": (r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", "-+0123456789"),
    "tag:yaml.org,2002:float": (r"[-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?$", "-+.0123456789"),
}
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in known if tag not in _SCALARS and tag != "tag:yaml.org,2002:value"]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _tag, (_pattern, _first) in _SCALARS.items():
    _Loader.add_implicit_resolver(_tag, re.compile(_pattern), list(_first))
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.whole)


def _config(source: Source) -> _Config:
    """The nodes are composed first, because values alone have no place."""
    try:
        loader = _Loader(source.text)
        root = loader.get_single_node()
        parts = _parts(root) if isinstance(root, yaml.MappingNode) else {"tests": root} if root else {}
        shared = loader.construct_object(parts[_SHARED], deep=True) if _SHARED in parts else {}
        default = _read_test(loader, parts["defaultTest"], shared) if "defaultTest" in parts else None
        tests = [_read_test(loader, node, shared) for node in _items(parts.get("tests"))]
        prompts = [(node.start_mark.line + 1, loader.construct_object(node, deep=True))
                   for node in _items(parts.get("prompts"))]  # fmt: skip
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise unreadable(source.path, tr("it is no YAML ({reason})", reason=error)) from error
    if prompts and "tests" not in parts:
        tests = [_Test(prompts[0][0], {}, ())]
    if not tests:
        raise unreadable(source.path, tr("there is no list of tests in it"))
    if not isinstance(default, _Test):
        return _Config(tests, prompts)
    return _Config([_joined(default, test) if isinstance(test, _Test) else test for test in tests], prompts)


def _parts(node: yaml.MappingNode) -> dict[str, yaml.Node]:
    return {key.value: value for key, value in node.value if isinstance(key, yaml.ScalarNode)}


def _items(node: yaml.Node | None) -> list[yaml.Node]:
    """The parts of a list; one thing alone is a list of one."""
    if isinstance(node, yaml.SequenceNode):
        return list(node.value)
    return [node] if isinstance(node, (yaml.ScalarNode, yaml.MappingNode)) and node.value not in ("", []) else []


def _read_test(loader: yaml.SafeLoader, node: yaml.Node, shared: Any) -> _Test | RowProblem:
    line = node.start_mark.line + 1
    if not isinstance(node, yaml.MappingNode):
        return RowProblem(line, tr("a test without vars"))
    lines = [item.start_mark.line + 1 for item in _items(_parts(node).get("assert"))]
    row = loader.construct_object(node, deep=True)
    variables, asserted, description = row.get("vars") or {}, row.get("assert") or [], row.get("description")
    if not isinstance(variables, Mapping):
        return RowProblem(line, tr("its vars are in a file, or are no names with values"))
    asserted = asserted if isinstance(asserted, list) else [asserted]
    return _Test(
        line,
        {str(name): value for name, value in variables.items()},
        [(line, _resolved(item, shared)) for line, item in zip(lines, asserted, strict=False)],
        description.strip() if isinstance(description, str) else "",
        tuple(str(name) for name in row if name not in _KNOWN and (name, row[name]) != ("options", _WHOLE)),
        not _keeps_lists(row),
    )


def _keeps_lists(row: Mapping[str, Any]) -> bool:
    options = row.get("options")
    return isinstance(options, Mapping) and options.get("disableVarExpansion") is True


def _resolved(assertion: Any, shared: Any) -> Any:
    """One that is written once, under ``assertionTemplates``, in place of what refers to it."""
    name = str(assertion.get("$ref", "")) if isinstance(assertion, Mapping) else ""
    found = shared.get(name.removeprefix(f"#/{_SHARED}/")) if name and isinstance(shared, Mapping) else None
    if isinstance(found, Mapping):
        return {**found, **{key: value for key, value in assertion.items() if key != "$ref"}}
    return {"type": f"$ref {name}"} if name else assertion


def _joined(default: _Test, test: _Test) -> _Test:
    """A test with what every test has: its own variables win."""
    return _Test(
        test.line,
        {**default.variables, **test.variables},
        [*default.assertions, *test.assertions],
        test.description,
        (*default.others, *test.others),
        default.expand and test.expand,
    )


# -- its cases -------------------------------------------------------------------------------------------------------


def _cases(test: _Test, prompts: Sequence[Prompt]) -> Iterator[Found]:
    notes = [(test.line, tr("“{name}” of the test has no equal here", name=name)) for name in test.others]
    variants = list(islice(_variants(test.variables), _MOST + 1)) if test.expand else [dict(test.variables)]
    if len(variants) > _MOST:
        yield RowProblem(test.line, tr("its lists of values make more than {most} tests", most=_MOST))
        return
    for number, variables in enumerate(variants, start=1):
        suffix = f"/{number}" if len(variants) > 1 else ""
        for prompt in prompts or (None,):
            try:
                yield test.line, _case(test, variables, suffix, prompt, len(prompts), notes)
            except RowError as error:
                yield RowProblem(test.line, str(error))
    for line, note in dict.fromkeys(notes):
        yield RowProblem(line, note, skipped=False)


def _variants(variables: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One set of values for each combination of the lists' values."""
    choices = [value if isinstance(value, list) else [value] for value in variables.values()]
    return (dict(zip(variables, values, strict=True)) for values in product(*choices))


def _case(
    test: _Test,
    variables: Mapping[str, Any],
    suffix: str,
    prompt: Prompt | None,
    prompts: int,
    notes: list[tuple[int, str]],
) -> Case:
    question = prompt.fill(variables) if prompt else _question(variables)
    told = Taken()
    for line, assertion in test.assertions:
        told.take(line, assertion)
    told.settle(test.line)
    notes += told.notes
    row = {"question": question, **told.row()}
    row["id"] = (test.description or case_id(_question_id(variables, question))) + suffix
    if prompt and prompts > 1:
        row["id"] += f"/p{prompt.number}"
        row["tags"] = [prompt.label or tr("prompt {number}", number=prompt.number)]
    return case_from(row)


def _question(variables: Mapping[str, Any]) -> str:
    if not variables:
        raise RowError(tr("a test without vars"))
    question = next((str(variables[name]) for name in _QUESTION if variables.get(name)), "")
    if not question:
        raise RowError(tr("its vars name no question, query, prompt or input"))
    return question


def _question_id(variables: Mapping[str, Any], question: str) -> str:
    """What tells one test from another whatever the prompt: its question, or all its values."""
    named = next((str(variables[name]) for name in _QUESTION if variables.get(name)), "")
    return named or " ".join(map(str, variables.values())) or question


def _test(case: Case) -> dict[str, Any]:
    checks: list[dict[str, Any]] = []
    if case.expectation and (check := assertion_of(case.expectation)):
        checks.append(check)
    checks += [{"type": "similar", "value": answer} for answer in case.answers]
    if case.criterion:
        checks.append({"type": "llm-rubric", "value": case.criterion})
    test = {"description": case.id, "vars": {"question": case.question}}
    return {**test, "assert": checks} if checks else test


def _loses(cases: Sequence[Case], _text_of: TextOf) -> set[str]:
    """The cases whose check it has none for, by kind."""
    lost: dict[str, list[str]] = {}
    for case in cases:
        if case.expectation and assertion_of(case.expectation) is None:
            lost.setdefault(case.expectation.kind, []).append(case.id)
    return {
        tr("{kind} checks: {count} ({names})", count=f"{len(ids):,}", kind=kind, names=first_of(ids))
        for kind, ids in lost.items()
    }


def _recognises(source: Source) -> bool:
    lines = (line.lstrip(" \t{") for line in source.text.split("\n"))
    if any(line.startswith(("tests:", '"tests"', "'tests'")) for line in lines):
        return True
    heads = (line for line in source.text.split("\n") if line.strip() and not line.startswith(("#", "---")))
    return next(heads, "").startswith(("- ", "[")) and ("vars:" in source.text or '"vars"' in source.text)


FORMAT = Format(
    "promptfoo",
    read,
    _recognises,
    frozenset({"id", "question", "answers", "criterion", "expectation"}),
    write,
    loses=_loses,
)
