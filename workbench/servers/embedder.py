"""A served model that embeds: the port ``Embedder`` over HTTP.

A server tells vectors and nothing of what is inside: there are no token vectors, and its pooling is its own. Texts go
in batches, and a vector is L2-normalised here, as not every server does.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Final

import numpy as np

from workbench.errors import Cancelled, EngineError, ServerError
from workbench.i18n import tr
from workbench.ports import Cancel, Embedding, Vector
from workbench.records.corpus import SERVER_POOLING, EmbedderInfo
from workbench.records.servers import EmbedderCard, Endpoint, ServedModel, ServerKind, short_name
from workbench.servers.dialect import Dialect, shaped
from workbench.servers.discovery import dialect_of
from workbench.servers.refusals import excerpt
from workbench.servers.wire import Wire

BATCH: Final = 32
"""Texts of one call: enough that its overhead is small, few enough that a stop loses little."""

CAUTIOUS_TOKENS: Final = 512
"""Longest input where nothing else is known: what most embedding models read, and llama-server's batch."""

_PIECE: Final = re.compile(r"\w{1,4}|[^\w\s]")
_MARGIN: Final = 8
"""Tokens left free for those that a server puts around a text."""


def probe(
    wire: Wire, dialect: Dialect, served: ServedModel, query_prefix: str = "", passage_prefix: str = ""
) -> EmbedderCard:
    """What a served model's vectors are, found by asking for one. Raises ServerError: it doesn't embed."""
    with shaped(wire):
        [vector] = dialect.embed(wire, served.id, [passage_prefix + "probe"])
        dimension = len(_normalised(wire, vector))
    return EmbedderCard(
        wire.endpoint,
        dialect.kind,
        served.id,
        identity_of(served),
        dimension,
        min(served.context or CAUTIOUS_TOKENS, CAUTIOUS_TOKENS),
        query_prefix,
        passage_prefix,
    )


def identity_of(served: ServedModel) -> str:
    """What tells its weights from others of the same name, as far as its server says."""
    return served.digest or (f"{served.bytes} B, {served.parameters}" if served.bytes or served.parameters else "")


class ServedEmbedder:
    """One embedding model of one server. See ``workbench.ports.Embedder``."""

    def __init__(self, wire: Wire, card: EmbedderCard) -> None:
        self._wire, self._card = wire, card
        self._dialect = dialect_of(card.kind)
        self._tokenizer = ServedTokenizer(card.endpoint, card.kind, card.model)

    @cached_property
    def info(self) -> EmbedderInfo:
        """From what was found when it was chosen: the server needn't be there."""
        card = self._card
        shape = [card.kind, card.model, card.identity, card.dimension, card.query_prefix, card.passage_prefix]
        return EmbedderInfo(
            name=short_name(card.model),
            fingerprint=hashlib.sha256(json.dumps([*shape, card.max_tokens]).encode()).hexdigest(),
            dimension=card.dimension,
            max_tokens=card.max_tokens,
            query_prefix=card.query_prefix,
            passage_prefix=card.passage_prefix,
            pooling=SERVER_POOLING,
            normalised=True,
        )

    @property
    def tokenizer(self) -> ServedTokenizer:
        """The model's own where its server tells tokens, else an estimate."""
        return self._tokenizer

    def start(self) -> None:
        """Sees that the same model is still there. Raises ServerError."""
        with shaped(self._wire):
            there = {served.id: served for served in self._dialect.models(self._wire)}
        served = there.get(self._card.model)
        if served is None or identity_of(served) != self._card.identity:
            raise ServerError(
                tr("The server has another model now"),
                tr(
                    "{url} served {model} when it was chosen; its vectors wouldn't fit those of the index.",
                    url=self._wire.endpoint.url,
                    model=self._card.model,
                ),
                tr("Start the same model again, or choose the embedder anew: workbench servers embed URL"),
                layer="model",
            )

    def embed_passages(
        self, texts: Sequence[str], cancel: Cancel | None = None, *, urgent: bool = False
    ) -> Iterator[Vector]:
        """One vector per text, in order, a batch at a time; the server decides who goes first."""
        return self._embed(self._card.passage_prefix, texts, cancel)

    def embed_query(self, text: str) -> Vector:
        """The query's vector."""
        [vector] = self._embed(self._card.query_prefix, [text], None)
        return vector

    def embed_passage_tokens(self, texts: Sequence[str], cancel: Cancel | None = None) -> Iterator[Embedding]:
        """As ``embed_passages``; no token has a vector."""
        none = np.zeros((0, self._card.dimension), np.float16)
        return (Embedding(vector, none) for vector in self.embed_passages(texts, cancel))

    def embed_query_tokens(self, text: str) -> Embedding:
        """The query's vector; no token has one."""
        return Embedding(self.embed_query(text), np.zeros((0, self._card.dimension), np.float16))

    def token_mean(self) -> Vector:
        """Of no tokens: zero."""
        return np.zeros(self._card.dimension, np.float32)

    def close(self) -> None:
        """Nothing is kept open between calls."""

    def _embed(self, prefix: str, texts: Sequence[str], cancel: Cancel | None) -> Iterator[Vector]:
        if any(not text.strip() for text in texts):
            raise ServerError(
                tr("An empty text has no vector"),
                tr("Servers refuse it, or give a vector that means nothing."),
                tr("Leave it out."),
                layer="request",
            )
        for start in range(0, len(texts), BATCH):
            if cancel is not None and cancel.is_set():
                raise Cancelled
            batch = [self._fitting(prefix + text) for text in texts[start : start + BATCH]]
            with shaped(self._wire):
                rows = self._dialect.embed(self._wire, self._card.model, batch, cancel)
                vectors = [_normalised(self._wire, row) for row in rows]
            yield from map(self._checked, vectors)

    def _fitting(self, text: str) -> str:
        """Without what the model wouldn't read, where its tokens are told: some servers refuse the whole text."""
        room = self._card.max_tokens - _MARGIN
        while len(text) > room and (pieces := self._tokenizer.pieces(text)) is not None and len(pieces) > room:
            text = text[: len(text) * room // len(pieces)]
        return text

    def _checked(self, vector: Vector) -> Vector:
        if len(vector) == self._card.dimension:
            return vector
        raise ServerError(
            tr("The server has another model now"),
            tr(
                "Its vectors have {got} dimensions; they had {before} when it was chosen.",
                got=len(vector),
                before=self._card.dimension,
            ),
            tr("Start the same model again, or choose the embedder anew: workbench servers embed URL"),
            layer="model",
        )


class ServedTokenizer:
    """Where the tokens of a text lie, by its server where that tells; else an estimate that rather counts too many.

    Pickled, it asks the same server from another process. Both methods may raise ServerError.
    """

    def __init__(self, endpoint: Endpoint, kind: ServerKind, model: str) -> None:
        self._endpoint, self._kind, self._model = endpoint, kind, model
        self._wire, self._dialect = Wire(endpoint), dialect_of(kind)
        self._remembered = lru_cache(maxsize=256)(self.pieces)
        self._told = True

    def __reduce__(self) -> tuple[type[ServedTokenizer], tuple[Endpoint, ServerKind, str]]:
        return ServedTokenizer, (self._endpoint, self._kind, self._model)

    @property
    def name(self) -> str:
        """The model's, with a sign once its tokens have been estimated."""
        name = short_name(self._model)
        return name if self._told else f"≈ {name}"

    def count(self, text: str) -> int:
        """Tokens of ``text``."""
        pieces = self._remembered(text)
        return len(_estimated(text) if pieces is None else pieces)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Character span (start, end) of each token of ``text``, in order."""
        pieces = self._remembered(text)
        return _estimated(text) if pieces is None or (found := spans(text, pieces)) is None else found

    def pieces(self, text: str) -> list[bytes] | None:
        """The bytes that each of its tokens stands for, None where the server doesn't tell."""
        with shaped(self._wire):
            found = self._dialect.pieces(self._wire, self._model, text) if self._told and text else []
        self._told = found is not None and self._told
        return [piece for _, piece in found or ()] if self._told else None


def _estimated(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _PIECE.finditer(text)]


def spans(text: str, pieces: Sequence[bytes]) -> list[tuple[int, int]] | None:
    """Character spans of tokens whose bytes, one after another, are the text's; None when they aren't.

    A tokenizer may put a space first. One that changes the text (lower case, normal form) gives no spans. A character
    that several tokens share belongs to the first of them, as others begin where it ends.
    """
    whole = text.encode("utf-8", "surrogatepass")
    joined = b"".join(pieces)
    lead = 1 if joined == b" " + whole else 0
    if joined[lead:] != whole:
        return None
    # The number of characters that begin before each byte.
    begun = np.concatenate([[0], np.cumsum([(byte & 0xC0) != 0x80 for byte in whole], dtype=np.int64)])
    ends = [max(0, end - lead) for end in itertools.accumulate(map(len, pieces))]
    edges = [0, *(int(begun[end]) for end in ends)]
    return list(itertools.pairwise(edges))


def _normalised(wire: Wire, row: Sequence[float]) -> Vector:
    with np.errstate(over="ignore"):  # what is too large isn't finite, and told below
        vector = np.asarray(row, np.float32)
    length = float(np.linalg.norm(vector)) if vector.ndim == 1 else 0.0
    if not length or not np.isfinite(length):
        raise EngineError(
            tr("The server's vector can't be used"),
            tr("{url}: it is zero or not finite: {text}", url=wire.endpoint.url, text=excerpt(str(row)[:80])),
            tr("Choose a model that embeds: workbench servers lists them."),
        )
    unit: Vector = vector / np.float32(length)
    return unit
