"""What is known of embedding models, and what is wrong with those in use."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from workbench.i18n import tr
from workbench.ports import Store
from workbench.records.codec import decode
from workbench.records.corpus import Index
from workbench.records.indexes import InstalledEmbedder, KnownModel, LintFinding

_TABLE = Path(__file__).with_name("known_embedders.toml")


@cache
def known_models() -> tuple[KnownModel, ...]:
    """The table."""
    rows = tomllib.loads(_TABLE.read_text("utf-8"))["model"]
    return tuple(decode(KnownModel, row) for row in rows)


def known_model(name: str) -> KnownModel | None:
    """The model that a folder's or file's name speaks of."""
    folded = name.casefold().replace("_", "-")
    return next((model for model in known_models() if any(part in folded for part in model.names)), None)


def cuts(name: str, dimension: int, told: Sequence[int]) -> tuple[int, ...]:
    """Fewer components that a model's vectors can be cut to; ``told``: what its own files say, else it is the table."""
    known = known_model(name)
    every = told or (known.matryoshka if known else ())
    return tuple(sorted((fewer for fewer in every if 0 < fewer < dimension), reverse=True))


def language_words(model: KnownModel) -> str:
    """Its languages in the interface's: how many, the one, or their codes as they are."""
    number, _, word = model.languages.partition(" ")
    if word == "languages":
        return tr("{count} languages", count=number)
    return tr("English") if model.languages == "English" else model.languages


def lint_embedder(info: InstalledEmbedder) -> Iterator[LintFinding]:
    """Prefixes, length and dimension against the table; one prefix alone where the table doesn't know the model."""
    known = info.known
    if not info.pooled:
        yield LintFinding(
            "warning",
            info.name,
            tr("Its file doesn't say how it pools: most likely it is a chat model, whose vectors find little."),
            tr("Take a model that is made for embedding: workbench embedders list --known"),
        )
    if known is None:
        if bool(info.query_prefix) != bool(info.passage_prefix):
            side = tr("questions") if info.query_prefix else tr("passages")
            yield LintFinding(
                "warning",
                info.name,
                tr("Only {side} get a prefix.", side=side),
                tr("Check its model card: most models want a prefix on both sides or on none."),
            )
        return
    yield from _prefixes(info, known)
    if info.max_tokens > known.max_tokens:
        yield LintFinding(
            "error",
            info.name,
            tr("Its card says {said} tokens; the model reads {known}.", said=info.max_tokens, known=known.max_tokens),
            tr("Correct max_tokens in its embedder.json."),
        )
    if info.dimension != known.dimension:
        message = tr(
            "It gives {said} numbers; the model so called {known}.", said=info.dimension, known=known.dimension
        )
        yield LintFinding("warning", info.name, message, tr("Check that the folder is the model it is named after."))


def _prefixes(info: InstalledEmbedder, known: KnownModel) -> Iterator[LintFinding]:
    sides = (
        (tr("questions"), info.query_prefix, known.query_prefix),
        (tr("passages"), info.passage_prefix, known.passage_prefix),
    )
    wrong = [(side, has, wants) for side, has, wants in sides if has != wants]
    for side, has, wants in wrong:
        one_side = tr(" The other side is right, so the two no longer fit.") if len(wrong) == 1 else ""
        yield LintFinding(
            "error",
            info.name,
            tr("Its {side} get the prefix “{has}”; it was trained with “{wants}”.", side=side, has=has, wants=wants)
            + one_side,
            tr("Correct the prefixes in its embedder.json, then build the index anew."),
        )


def lint_index(store: Store, index: Index, *, installed: bool, same_name: bool) -> Iterator[LintFinding]:
    """Its embedder missing or another one of the same name, and chunks that are longer than the embedder reads."""
    about = tr("index {id} of {collection}", id=index.id, collection=index.collection)
    if not installed:
        what = (
            tr("The embedder called {name} isn't the one that made it.", name=index.embedder.name)
            if same_name
            else tr("Its embedder {name} isn't installed.", name=index.embedder.name)
        )
        remedy = tr("Install that embedder again, or build an index with one that is there: workbench indexes build")
        yield LintFinding("error", about, what, remedy)
    cut = sum(fact.truncated for fact in store.health.chunk_facts(index.id))
    if cut:
        yield LintFinding(
            "warning",
            about,
            tr("{count} chunks are longer than the {most} tokens it reads.", count=cut, most=index.embedder.max_tokens),
            tr("Build it with a smaller size: workbench indexes build --recipe …"),
        )
