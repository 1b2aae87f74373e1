"""Sentences grouped by meaning: cut where neighbouring sentences are least alike.

The cosines of all neighbouring pairs of a document are taken; a pair below their ``threshold`` percentile is a cut. So
the recipe adapts to each document, and always cuts about that share of the places where it could.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from workbench.corpus.chunking import sentence
from workbench.corpus.chunking.material import Material
from workbench.records.corpus import Span


def split(material: Material) -> list[Span]:
    """Groups of whole sentences within the budget. Embeds every sentence once, through ``material.similarity``.

    Raises:
        ValueError: no similarity function was given.
    """
    if material.similarity is None:
        raise ValueError("the semantic recipe needs a similarity function")
    units = sentence.split(material)
    if len(units) < 2:
        return units
    cosines = _neighbour_cosines(np.stack(material.similarity([material.text[u.start : u.end] for u in units])))
    threshold = np.percentile(cosines, material.recipe.threshold)
    groups = [units[0]]
    for unit, cosine in zip(units[1:], cosines, strict=True):
        group = groups[-1]
        fits = material.tokens.count(group.start, unit.end) <= material.budget(group.header)
        if fits and unit.header == group.header and cosine >= threshold:
            groups[-1] = replace(group, end=unit.end)
        else:
            groups.append(unit)
    return groups


def _neighbour_cosines(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """cos(vᵢ, vᵢ₊₁) of L2-normalised rows: (n, d) → (n − 1,)."""
    cosines: npt.NDArray[np.float32] = np.einsum("ij,ij->i", vectors[:-1], vectors[1:])
    return cosines
