"""The table of recipes: name → splitter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from workbench.corpus.chunking import parent, semantic, sentence, structure, window
from workbench.corpus.chunking.material import Material, Similarity, material_of
from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.ports import Tokenizer
from workbench.records.corpus import ParsedDocument, Recipe, RecipeName, Span

SPLITTERS: Final[dict[RecipeName, Callable[[Material], list[Span]]]] = {
    "structure": structure.split,
    "window": window.split,
    "sentence": sentence.split,
    "semantic": semantic.split,
    "parent": parent.split,
}


def cut(
    parsed: ParsedDocument,
    recipe: Recipe,
    tokenizer: Tokenizer,
    *,
    similarity: Similarity | None = None,
    overhead: int = 0,
) -> list[Span]:
    """The document's spans by ``recipe``, in order of the text; every character that isn't white space is in one.

    Args:
        similarity: texts → L2-normalised vectors, one each; only the semantic recipe asks.
        overhead: tokens that the embedder adds to every text; part of the budget of every recipe but ``window``.

    Raises:
        UsageError: the overlap isn't smaller than the window.
    """
    if recipe.overlap >= recipe.size:
        raise UsageError(
            tr("Recipe can't work"),
            tr("An overlap of {overlap} doesn't fit {size} tokens.", overlap=recipe.overlap, size=recipe.size),
            tr("Give an overlap from 0 to {most}.", most=recipe.size - 1),
        )
    return SPLITTERS[recipe.name](material_of(parsed, recipe, tokenizer, overhead, similarity))
