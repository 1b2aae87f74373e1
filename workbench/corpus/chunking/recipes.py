"""Recipes by name and in text: ``structure``, ``structure:size=300``, ``window:size=350,overlap=60``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, cast, get_args

from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.records.corpus import Recipe, RecipeName, TokenForm

DEFAULTS: Final[dict[RecipeName, Recipe]] = {
    "structure": Recipe("structure"),
    "window": Recipe("window", size=350, overlap=60),
    "sentence": Recipe("sentence"),
    "semantic": Recipe("semantic"),
    "parent": Recipe("parent", size=200),
}
_SETTINGS: Final[dict[RecipeName, tuple[str, ...]]] = {
    "structure": ("size",),
    "window": ("size", "overlap"),
    "sentence": ("size",),
    "semantic": ("size", "threshold"),
    "parent": ("size", "parent_size"),
}
_TOKENS: Final = "token_vectors"
"""The setting that every recipe has, and that is only told when it isn't the usual one."""
_SMALLEST: Final = 16  # tokens: room for an embedder's prefix, its special tokens and a few words


def recipe_from(name: str, **overrides: float | str) -> Recipe:
    """The named recipe with its defaults, and those settings that are given.

    Raises:
        UsageError: no such recipe, a setting it doesn't have, or values that can't work.
    """
    if name not in DEFAULTS:
        raise UsageError(
            tr("Unknown recipe"),
            tr("There is no recipe called {name}.", name=repr(name)),
            tr("Recipes are {names}.", names=", ".join(DEFAULTS)),
        )
    for setting in overrides:
        if setting not in (*_SETTINGS[name], _TOKENS):
            raise UsageError(
                tr("Unknown recipe setting"),
                tr("The recipe {name} has no setting {setting}.", name=name, setting=repr(setting)),
                tr("Its settings are {names}.", names=", ".join((*_SETTINGS[name], _TOKENS))),
            )
    values: dict[str, Any] = {key: _type_of(key)(value) for key, value in overrides.items()}
    recipe = replace(DEFAULTS[name], **values)
    check(recipe)
    return recipe


def parse_recipe(text: str) -> Recipe:
    """The recipe written as ``name`` or ``name:setting=value,setting=value``.

    Raises:
        UsageError: it can't be understood.
    """
    name, _, rest = text.strip().partition(":")
    overrides: dict[str, float | str] = {}
    for part in filter(None, (p.strip() for p in rest.split(","))):
        setting, _, value = (s.strip() for s in part.partition("="))
        try:
            overrides[setting] = _type_of(setting)(value)
        except ValueError:
            raise UsageError(
                tr("Bad recipe setting"),
                tr("{part} isn't a setting with a whole number.", part=repr(part)),
                tr("Write it like {example}.", example=describe_recipe(DEFAULTS.get(cast(RecipeName, name), Recipe()))),
            ) from None
    return recipe_from(name.strip(), **overrides)


def describe_recipe(recipe: Recipe) -> str:
    """The text that ``parse_recipe`` reads back, with every setting of the recipe's own."""
    settings = [f"{key}={_written(getattr(recipe, key))}" for key in _SETTINGS[recipe.name]]
    if recipe.token_vectors != DEFAULTS[recipe.name].token_vectors:
        settings.append(f"{_TOKENS}={recipe.token_vectors}")
    return f"{recipe.name}:" + ",".join(settings)


def _written(value: float) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _type_of(setting: str) -> type[str] | type[int] | type[float]:
    return {_TOKENS: str, "threshold": float}.get(setting, int)


def check(recipe: Recipe) -> None:
    """Raises UsageError when the recipe's values can't work."""
    problem = remedy = ""
    if recipe.size < _SMALLEST:
        problem = tr("A chunk of {size} tokens is too small.", size=recipe.size)
        remedy = tr("Give at least {size} tokens.", size=_SMALLEST)
    elif not 0 <= recipe.overlap < recipe.size:
        problem = tr("An overlap of {overlap} doesn't fit {size} tokens.", overlap=recipe.overlap, size=recipe.size)
        remedy = tr("Give an overlap from 0 to {most}.", most=recipe.size - 1)
    elif not 0 <= recipe.threshold <= 100:
        problem = tr("A threshold of {value} is no percentile.", value=recipe.threshold)
        remedy = tr("Give a threshold from 0 to 100.")
    elif recipe.name == "parent" and recipe.parent_size < recipe.size:
        problem = tr("A parent of {parent} tokens is smaller than its chunks.", parent=recipe.parent_size)
        remedy = tr("Give at least {size} tokens.", size=recipe.size)
    elif recipe.token_vectors not in get_args(TokenForm):
        problem = tr("Token vectors can't be kept as {form}.", form=repr(recipe.token_vectors))
        remedy = tr("Give one of {names}.", names=", ".join(get_args(TokenForm)))
    if problem:
        raise UsageError(tr("Recipe can't work"), problem, remedy)
