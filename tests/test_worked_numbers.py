"""docs/worked-numbers.md says what is tested: each of its rows names a test that exists and holds its figures."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "worked-numbers.md").read_text("utf-8").splitlines()
    if "::test_" in line
]


def constants(path: str, name: str) -> set[str]:
    """Numbers and words of a test, and of what it takes from its module; numbers as ``float`` writes them."""
    defined = dict(_named((ROOT / path).read_text("utf-8")))
    assert name in defined, f"{path} has no {name}"
    taken = [node.id for node in ast.walk(defined[name]) if isinstance(node, ast.Name) and node.id in defined]
    parts = [defined[name], *(defined[other] for other in taken)]
    held = {node.value for part in parts for node in ast.walk(part) if isinstance(node, ast.Constant)}
    numbers = {str(float(value)) for value in held if isinstance(value, int | float)}
    return numbers | {f"-{number}" for number in numbers} | {str(value) for value in held}


def _named(text: str) -> Iterator[tuple[str, ast.stmt]]:
    """What a module defines, by name."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_a_row_names_a_test_that_holds_its_figures(row: list[str]) -> None:
    _, figures, chapter, test = row
    path, _, name = test.partition("::")
    held = constants(path, name)
    for figure in re.findall(r"`([^`]+)`", figures):
        wanted = str(float(figure)) if re.fullmatch(r"-?[\d.]+", figure) else figure
        assert wanted in held, f"{test} doesn't hold {figure}"
    assert re.fullmatch(r"(\d+|E)(, \d+)*", chapter)


def test_the_page_has_its_rows() -> None:
    assert len(ROWS) > 20
