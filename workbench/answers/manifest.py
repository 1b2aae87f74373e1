"""What would have to be the same for the same answer, and the name of a trace."""

from __future__ import annotations

import platform
import secrets
import time
from dataclasses import fields
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Final

import workbench
from workbench.answers.prompt import fingerprint
from workbench.corpus.chunking.recipes import describe_recipe
from workbench.ports import Embedder, Generator
from workbench.records.answers import AskOptions, Manifest
from workbench.records.corpus import Collection, Index
from workbench.records.models import LoadedModel, LoadSettings
from workbench.records.retrieval import SearchOptions

SERVER_SETTING: Final = "model.server"

_LIBRARIES: Final = ("sqlite-vec", "pysqlite3", "fastembed", "onnxruntime", "tokenizers", "numpy", "llama-cpp-python")
_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: sorts as it counts, no i, l, o, u


def new_trace_id() -> str:
    """14 characters: milliseconds since 1970 (9, until the year 3084), then chance (5). Sorts by time."""
    ticks = time.time_ns() // 1_000_000
    stamp = "".join(_ALPHABET[(ticks >> shift) & 31] for shift in range(40, -1, -5))
    return stamp + "".join(secrets.choice(_ALPHABET) for _ in range(5))


def now() -> datetime:
    """The moment, with its time zone (UTC)."""
    return datetime.now(UTC)


def manifest(
    collection: Collection,
    index: Index | None,
    embedder: Embedder | None,
    generator: Generator | None,
    options: AskOptions,
    search: SearchOptions,
) -> Manifest:
    """The manifest of a question about to be asked; index 0 and empty names for what there is none of."""
    info = embedder.info if embedder else None
    model = generator.model if generator else None
    return Manifest(
        workbench=workbench.__version__,
        collection=collection.name,
        collection_version=collection.version,
        index_id=index.id if index else 0,
        embedder=info.name if info else "",
        embedder_fingerprint=info.fingerprint if info else "",
        recipe=describe_recipe(index.recipe if index else collection.recipe),
        model=model.file.name if model else "",
        model_hash=model.file.hash if model else "",
        settings=_settings(options, search, model.settings if model else None) | place_of(model),
        versions=library_versions(),
    )


def place_of(model: LoadedModel | None) -> dict[str, str | int | float | bool]:
    """The address of the server that a model is on, as a setting; nothing where it runs here."""
    return {SERVER_SETTING: model.server} if model and model.server else {}


def flat(told: Manifest) -> dict[str, object]:
    """The manifest as one mapping: its own fields, the settings ("search.k") and the versions ("versions.numpy")."""
    plain = {f.name: getattr(told, f.name) for f in fields(told) if f.name not in ("settings", "versions")}
    return plain | dict(told.settings) | {f"versions.{name}": version for name, version in told.versions.items()}


@cache
def library_versions() -> dict[str, str]:
    """Versions of Python and of the libraries that touch an answer; those not installed are left out."""
    found = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _settings(
    options: AskOptions, search: SearchOptions, load: LoadSettings | None
) -> dict[str, str | int | float | bool]:
    flat: dict[str, str | int | float | bool] = {}
    for prefix, record in (("ask", options), ("search", search), ("model", load)):
        for field in fields(record) if record else ():
            value = getattr(record, field.name)
            if isinstance(value, tuple):
                value = " ".join(f"{v[0]}={v[1]}" if isinstance(v, tuple) else str(v) for v in value)
            if value is not None:
                flat[f"{prefix}.{field.name}"] = value
    return flat | {"model.prompt": fingerprint()} if load else flat
