"""Recipes that cut a parsed document into chunks with exact offsets: one module per recipe, one table of them.

Here live the recipes' text form, the splitters and the making of chunk records. Nothing here reads a source, embeds or
stores: a tokenizer and, for the semantic recipe, a similarity function come from outside.
"""

from workbench.corpus.chunking.chunks import chunks_of, overhead_of
from workbench.corpus.chunking.cut import cut
from workbench.corpus.chunking.recipes import describe_recipe, parse_recipe, recipe_from

__all__ = ["chunks_of", "cut", "describe_recipe", "overhead_of", "parse_recipe", "recipe_from"]
