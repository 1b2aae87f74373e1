"""The workbench's side of an embedder: the port ``Embedder`` over a child process."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from workbench.engine import protocol
from workbench.engine.process import ChildProcess
from workbench.engine.token_mean import SAMPLE, mean_of
from workbench.engine.tokenizing import ChildTokenizer, GgufTokenizer
from workbench.errors import Cancelled, EngineError, MissingModelError
from workbench.i18n import tr
from workbench.ports import Cancel, Embedding, Vector
from workbench.records.corpus import EmbedderInfo

CARD = "embedder.json"
TOKENIZER = "tokenizer.json"
_FILES: Final = {"onnx": (TOKENIZER, "tokenizer_config.json"), "use": (TOKENIZER,)}
"""What a runtime needs beside the model's file."""


def list_embedders(folder: Path) -> tuple[str, ...]:
    """Names of the embedders installed under ``folder``, sorted."""
    return tuple(sorted(card.parent.name for card in folder.glob(f"*/{CARD}")))


def open_embedder(folder: Path) -> ChildEmbedder:
    """The embedder in ``folder``. Reads its card only; its child starts with the first text.

    Raises:
        MissingModelError: the folder lacks a file.
        EngineError: its card can't be understood.
    """
    card = read_card(folder)
    missing = [name for name in _FILES.get(card.runtime, ()) if not (folder / name).is_file()]
    if not (folder / card.model_file).is_file():
        missing.append(card.model_file)
    if missing:
        raise _missing(folder, ", ".join(missing))
    return ChildEmbedder(folder, card)


@dataclass(frozen=True, slots=True)
class EmbedderCard:
    """``embedder.json``: what the files in an embedder's folder are. Fields as in ``EmbedderInfo``.

    Attributes:
        model_file: in the folder, or an absolute path.
        runtime: one of ``workbench.engine.embedding_models``.
        kind: the model's own name, where the table of known models has it; "" when the card doesn't tell.
    """

    name: str
    dimension: int
    max_tokens: int
    query_prefix: str
    passage_prefix: str
    pooling: str
    normalised: bool
    model_file: str
    runtime: str = "onnx"
    matryoshka: tuple[int, ...] = ()
    kind: str = ""


_REQUIRED: Final = tuple(name for name in EmbedderCard.__slots__ if name not in ("runtime", "matryoshka", "kind"))


def read_card(folder: Path) -> EmbedderCard:
    """Raises MissingModelError when there is none, EngineError when it can't be understood."""
    try:
        fields = json.loads((folder / CARD).read_text("utf-8"))
        return EmbedderCard(
            **{name: fields[name] for name in _REQUIRED},
            runtime=str(fields.get("runtime", "onnx")),
            matryoshka=tuple(map(int, fields.get("matryoshka", ()))),
            kind=str(fields.get("kind", "")),
        )
    except FileNotFoundError:
        raise _missing(folder, CARD) from None
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise EngineError(
            tr("The embedder can't be used"),
            tr("{file} can't be understood: {reason}", file=str(folder / CARD), reason=str(error)),
            tr("Run `workbench starter` to fetch it again."),
        ) from error


def _missing(folder: Path, what: str) -> MissingModelError:
    return MissingModelError(
        tr("The embedder's files are missing"),
        tr("{folder} lacks {what}.", folder=str(folder), what=what),
        tr("Run `workbench starter`."),
    )


class ChildEmbedder:
    """An embedder in a child process, which starts with the first text, and again after it died or was closed.

    See ``workbench.ports.Embedder``.
    """

    def __init__(self, folder: Path, card: EmbedderCard) -> None:
        self._folder = folder
        self._card = card
        own = folder / TOKENIZER
        self._tokenizer = (
            ChildTokenizer(card.name, own, self._running)
            if own.is_file()
            else ChildTokenizer(card.name, folder / card.model_file, self._running, GgufTokenizer)
        )
        self._lock = threading.Lock()
        self._child: ChildProcess | None = None

    @cached_property
    def info(self) -> EmbedderInfo:
        """What makes its vectors comparable. The first call reads the model's files for their fingerprint."""
        card = self._card
        return EmbedderInfo(
            name=card.name,
            fingerprint=_fingerprint(self._folder, card),
            dimension=card.dimension,
            max_tokens=card.max_tokens,
            query_prefix=card.query_prefix,
            passage_prefix=card.passage_prefix,
            pooling=card.pooling,
            normalised=card.normalised,
            matryoshka=card.matryoshka,
        )

    @property
    def tokenizer(self) -> ChildTokenizer:
        """The model's own. See ``workbench.ports.Embedder``."""
        return self._tokenizer

    @property
    def pid(self) -> int | None:
        """Of its child, None when none runs."""
        child = self._child
        return child.pid if child and child.alive else None

    def start(self) -> None:
        """Starts the child where none runs. See ``workbench.ports.Embedder``."""
        self._running()

    def embed_passages(
        self, texts: Sequence[str], cancel: Cancel | None = None, *, urgent: bool = False
    ) -> Iterator[Vector]:
        """One vector per text, in order, as each is ready. See ``workbench.ports.Embedder``."""
        for embedding in self._embed(self._card.passage_prefix, texts, cancel, urgent=urgent):
            yield embedding.vector

    def embed_query(self, text: str) -> Vector:
        """The query's vector; it doesn't wait for passages that other threads are embedding."""
        [embedding] = self._embed(self._card.query_prefix, [text], None, urgent=True)
        return embedding.vector

    def embed_passage_tokens(self, texts: Sequence[str], cancel: Cancel | None = None) -> Iterator[Embedding]:
        """As ``embed_passages``, with the vectors of each text's tokens. See ``workbench.ports.Embedder``."""
        return self._embed(self._card.passage_prefix, texts, cancel, tokens=True)

    def embed_query_tokens(self, text: str) -> Embedding:
        """The query's vector and those of its tokens."""
        [embedding] = self._embed(self._card.query_prefix, [text], None, urgent=True, tokens=True)
        return embedding

    def token_mean(self) -> Vector:
        """Of the passages in ``workbench.engine.token_mean``; takes a moment."""
        return mean_of((e.tokens for e in self.embed_passage_tokens(SAMPLE)), self._card.dimension)

    def close(self) -> None:
        """Ends the child process and frees its memory."""
        with self._lock:
            child, self._child = self._child, None
        if child:
            child.close()

    def _embed(
        self, prefix: str, texts: Sequence[str], cancel: Cancel | None, *, urgent: bool = False, tokens: bool = False
    ) -> Iterator[Embedding]:
        if not texts:
            return
        child, done = self._running(), 0
        whole = tuple(prefix + text for text in texts)
        dropped = len(prefix) if tokens else None
        for event in child.ask(lambda id_: protocol.Embed(id_, whole, urgent, dropped), cancel):
            match event:
                case protocol.Embedded():
                    done += 1
                    vector = self._checked(np.frombuffer(event.vector, "<f4"))
                    yield Embedding(vector, np.frombuffer(event.tokens, "<f2").reshape(-1, len(vector)))
                case protocol.Failed():
                    raise self._error(event.detail, child)
        if done < len(texts):
            raise Cancelled

    def _checked(self, vector: Vector) -> Vector:
        if len(vector) == self._card.dimension:
            return vector
        raise EngineError(
            tr("The embedder can't be used"),
            tr("Its vectors have {got} dimensions, its card says {said}.", got=len(vector), said=self._card.dimension),
            tr("Run `workbench starter` to fetch it again."),
        )

    def _running(self) -> ChildProcess:
        """The child, started when there is none."""
        with self._lock:
            if self._child and self._child.alive:
                return self._child
            if self._child:
                self._child.close()
            self._child = ChildProcess("embed")
            self._load(self._child)
            return self._child

    def _load(self, child: ChildProcess) -> None:
        card = self._card
        request = child.ask(
            lambda id_: protocol.LoadEmbedder(
                id_,
                str(self._folder),
                card.model_file,
                card.dimension,
                card.pooling,
                card.normalised,
                card.runtime,
                card.max_tokens,
            )
        )
        for event in request:
            if isinstance(event, protocol.Failed):
                child.close()
                raise self._error(event.detail, child)

    def _error(self, detail: str, child: ChildProcess) -> EngineError:
        return EngineError(
            tr("{name} can't embed", name=self._card.name),
            tr("The embedding model says: {reason}", reason=detail),
            tr("Run `workbench starter` to fetch it again."),
            log=child.log,
        )


def _fingerprint(folder: Path, card: EmbedderCard) -> str:
    """SHA-256 over the digests of weights and tokenizer and over what else shapes a vector."""
    digest = hashlib.sha256()
    for name in (card.model_file, TOKENIZER):
        if not (folder / name).is_file():  # a GGUF file holds its tokenizer
            continue
        with (folder / name).open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    shape = [card.query_prefix, card.passage_prefix, card.pooling, card.normalised, card.max_tokens]
    digest.update(json.dumps(shape).encode())
    return digest.hexdigest()
