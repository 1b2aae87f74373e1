"""Putting an embedder beside those that are installed: an ONNX folder, a GGUF file, one of fastembed's own by name."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from workbench import paths
from workbench.engine.embedding import CARD, TOKENIZER
from workbench.engine.gguf_header import HeaderError, read_header, read_pooling
from workbench.errors import MissingModelError, UsageError
from workbench.i18n import tr
from workbench.indexing.catalogue import known_model

CATALOGUE: Final = "fastembed:"
_LONGEST: Final = 512
"""Tokens where neither the model's files nor the table say how many it reads."""
_LONGEST_GGUF: Final = 2048
"""A text is computed at once, and llama.cpp reserves the memory for the longest; raise it in ``embedder.json``."""
_MODES: Final = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_lasttoken": "last",
}
"""Of sentence-transformers' ``1_Pooling/config.json``."""
_NAME: Final = re.compile(r"\w[\w .+-]*")
_BESIDE: Final = (TOKENIZER, "tokenizer_config.json", "config.json", "special_tokens_map.json")


@dataclass(frozen=True, slots=True)
class Given:
    """What is said of a model.

    Attributes:
        query, passage: put before texts; None: as the folder's own card says, the table of known models, or what else
            the model's files tell.
        cut_to: dimensions that it was trained to be cut to (Matryoshka).
    """

    query: str | None = None
    passage: str | None = None
    cut_to: tuple[int, ...] = ()


def add_embedder(source: str, name: str = "", given: Given = Given()) -> str:
    """Installs it and returns its name. ONNX files are copied; a GGUF file stays where it is.

    Args:
        source: a folder, a file, or ``fastembed:NAME``, which uses the network.

    Raises:
        UsageError: it is no embedder, or the name is taken.
        MissingModelError: fastembed can't fetch it.
    """
    if source.startswith(CATALOGUE):
        return _fetched(source.removeprefix(CATALOGUE), name, given)
    path = Path(source).expanduser().resolve()
    if not path.exists():
        raise UsageError(
            tr("It is no embedder"),
            tr("There is nothing at “{path}”.", path=path),
            tr("Name a folder with model.onnx and tokenizer.json, or a .gguf file."),
        )
    if path.is_dir():
        return _onnx(path, name or path.name, given, {})
    return _gguf(path, name or path.stem, given)


def _onnx(folder: Path, name: str, given: Given, told: dict[str, Any]) -> str:
    """``told``: what fastembed says of it; nothing: the folder's own card is asked."""
    models = sorted(folder.glob("*.onnx")) or sorted(folder.glob("onnx/*.onnx"))
    if told:
        models = [folder / told["model_file"]]
    said = told or _json(folder / CARD)
    model = min(models, key=lambda m: (m.name != said.get("model_file"), m.stem != "model"), default=None)
    missing = [part for part in _BESIDE[:2] if not (folder / part).is_file()]
    if model is None or missing:
        raise _no_embedder(folder)
    config, tokenizer = _json(folder / "config.json"), _json(folder / "tokenizer_config.json")
    kind = _kind(name, said.get("name"), config.get("_name_or_path"), folder.name)
    known = known_model(kind)
    says = (
        said.get("max_tokens"),
        tokenizer.get("model_max_length"),
        config.get("max_position_embeddings"),
        _json(folder / "sentence_bert_config.json").get("max_seq_length"),
    )
    lengths = [n for n in (*says, known.max_tokens if known else None) if isinstance(n, int) and 0 < n < 10**6]
    sizes = (said.get("dimension"), config.get("hidden_size"), known.dimension if known else 0)
    poolings = (said.get("pooling"), _pooling(folder), known.pooling if known else "mean")
    card = {
        "kind": kind,
        "dimension": next((n for n in sizes if isinstance(n, int) and n > 0), 0),
        "max_tokens": min(lengths, default=_LONGEST),
        "pooling": next(str(p) for p in poolings if p and isinstance(p, str)),
        "model_file": model.name,
        "runtime": "onnx",
    }
    target = _new_folder(name)
    for file in (*model.parent.glob(f"{model.name}*"), *(folder / part for part in _BESIDE)):
        if file.is_file():
            shutil.copyfile(file, target / file.name)
    return _write_card(target, card, _first_said(given, _carded(said), _tabled(kind), _own(folder)))


def _kind(name: str, *others: object) -> str:
    """The first of its names that the table of known models has, "" when it has none."""
    return next((str(one) for one in (name, *others) if isinstance(one, str) and known_model(one)), "")


def _first_said(*sources: Given) -> Given:
    """Of each field what the first source says that says anything of it."""
    query = next((source.query for source in sources if source.query is not None), "")
    passage = next((source.passage for source in sources if source.passage is not None), "")
    return Given(query, passage, next((source.cut_to for source in sources if source.cut_to), ()))


def _carded(card: dict[str, Any]) -> Given:
    """What a folder's ``embedder.json`` says: whoever wrote it knew the model."""
    query, passage = (
        text if isinstance(text := card.get(field), str) else None for field in ("query_prefix", "passage_prefix")
    )
    return Given(query, passage, _whole_numbers(card.get("matryoshka")))


def _tabled(kind: str) -> Given:
    """What the table of known models says. Its cuts are read from it whenever they are asked for."""
    known = known_model(kind)
    return Given(known.query_prefix, known.passage_prefix) if known else Given()


def _whole_numbers(value: object) -> tuple[int, ...]:
    return tuple(n for n in value if isinstance(n, int)) if isinstance(value, list) else ()


def _pooling(folder: Path) -> str:
    """As sentence-transformers wrote it down, "" where it didn't or it is one that no runtime has."""
    modes = _json(folder / "1_Pooling" / "config.json")
    return next((name for mode, name in _MODES.items() if modes.get(mode) is True), "")


def _own(folder: Path) -> Given:
    """What its own files say of prompts (as sentence-transformers writes them) and of cuts."""
    said = _json(folder / "config_sentence_transformers.json").get("prompts")
    prompts = {name: text for name, text in said.items() if isinstance(text, str)} if isinstance(said, dict) else {}
    fewer = _whole_numbers(_json(folder / "config.json").get("matryoshka_dimensions"))
    return Given(prompts.get("query"), prompts.get("document", prompts.get("passage")), fewer)


def _gguf(path: Path, name: str, given: Given) -> str:
    try:
        file, pooling = read_header(path), read_pooling(path)
    except (HeaderError, OSError):
        raise _no_embedder(path) from None
    if file.problem or not file.embedding or pooling == "rank":
        raise _no_embedder(path)
    kind = _kind(name, path.stem)
    known = known_model(kind)
    card = {
        "kind": kind,
        "dimension": file.embedding,
        "max_tokens": min(file.context or _LONGEST, known.max_tokens if known else _LONGEST_GGUF, _LONGEST_GGUF),
        "pooling": pooling or (known.pooling if known else "mean"),
        "model_file": str(path),
        "runtime": "gguf",
    }
    return _write_card(_new_folder(name), card, _first_said(given, _tabled(kind)))


def _fetched(model: str, name: str, given: Given) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "workbench.indexing.fetching", model, scratch]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise MissingModelError(
                tr("The download failed"),
                tr(
                    "fastembed says: {reason}",
                    reason=next(reversed(done.stderr.strip().splitlines()), "–"),
                ),
                tr("Check the name and the network; fastembed's catalogue lists what there is."),
            )
        told = json.loads(done.stdout.strip().splitlines()[-1]) | {"name": model}
        return _onnx(Path(told["folder"]), name or model.rpartition("/")[2], given, told)


def _write_card(folder: Path, card: dict[str, Any], said: Given) -> str:
    card |= {"matryoshka": sorted(said.cut_to, reverse=True)} if said.cut_to else {}
    prefixes = {"query_prefix": said.query, "passage_prefix": said.passage}
    whole = {"name": folder.name, **prefixes, "normalised": True, **card}
    (folder / CARD).write_text(json.dumps(whole, indent=1) + "\n", "utf-8")
    return folder.name


def _new_folder(name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise UsageError(
            tr("No name for an embedder"),
            tr("“{name}” can't be an embedder's name.", name=name),
            tr("Take letters, digits, spaces and . + - _, beginning with a letter or digit: --name"),
        )
    folder = paths.embedders_folder() / name
    if folder.exists():
        raise UsageError(
            tr("The embedder is there already"),
            tr("There is an embedder “{name}”.", name=name),
            tr("Give it another name: --name"),
        )
    folder.mkdir(parents=True)
    return folder


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _no_embedder(path: Path) -> UsageError:
    return UsageError(
        tr("It is no embedder"),
        tr("“{path}” is neither an ONNX folder with its tokenizer nor a GGUF file that embeds.", path=path),
        tr("Name a folder with model.onnx and tokenizer.json, or a .gguf file."),
    )
