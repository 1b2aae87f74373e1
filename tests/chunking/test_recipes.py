"""Recipes in text: what is written is what is meant, and mistakes are told with a way out."""

from __future__ import annotations

import pytest

from workbench.corpus.chunking import describe_recipe, parse_recipe, recipe_from
from workbench.corpus.chunking.recipes import DEFAULTS
from workbench.errors import UsageError
from workbench.records.corpus import Recipe


@pytest.mark.parametrize("name", list(DEFAULTS))
def test_every_recipe_reads_back_what_it_is_described_as(name: str) -> None:
    recipe = recipe_from(name, size=123)
    assert parse_recipe(describe_recipe(recipe)) == recipe
    assert parse_recipe(name) == DEFAULTS[recipe.name]


def test_settings_are_read() -> None:
    assert parse_recipe(" window : size=300, overlap=30 ") == Recipe("window", 300, 30)
    assert parse_recipe("semantic:threshold=12.5").threshold == 12.5
    assert describe_recipe(Recipe("window", 350, 60)) == "window:size=350,overlap=60"


def test_token_vectors_are_told_only_where_they_are_not_the_usual() -> None:
    assert parse_recipe("structure:size=300,token_vectors=none") == Recipe(size=300, token_vectors="none")
    assert describe_recipe(Recipe(token_vectors="int8")) == "structure:size=400,token_vectors=int8"
    assert parse_recipe("sentence").token_vectors == "bits"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "structure"),
        ("windows", "window"),
        ("structure:overlap=9", "size"),
        ("structure:size=many", "structure:size=400"),
        ("structure:size", "structure:size=400"),
        ("structure:token_vectors=many", "none, bits, int8"),
        ("structure:size=3", "16"),
        ("structure:size=-400", "16"),
        ("window:size=100,overlap=100", "99"),
        ("window:size=100,overlap=-1", "99"),
        ("semantic:threshold=101", "100"),
        ("semantic:threshold=nan", "100"),
        ("parent:size=300,parent_size=200", "300"),
    ],
)
def test_a_recipe_that_cant_work_says_what_would(text: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_recipe(text)
    assert hint in caught.value.remedy
