"""Any text under every tokenizer that is here, and two prompts held against each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.errors import NotFoundError
from workbench.i18n import tr
from workbench.ports import Embedder, Generator
from workbench.records.tokens import KINDS, Cut, CutKind, Piece, PrefixReport
from workbench.text.counting import ENCODINGS, tiktoken_encoding
from workbench.tokens.prefix import compare_prompts


class TokenLab:
    """Tokenizers: tiktoken's encodings whose files are here, the loaded model's, the embedder's.

    Args:
        loaded: the language model, None when none is loaded.
        embedder: None when none is installed.
    """

    def __init__(self, loaded: Callable[[], Generator | None], embedder: Callable[[], Embedder | None]) -> None:
        self._loaded, self._embedder = loaded, embedder

    def tokenizers(self, kinds: Sequence[CutKind] = KINDS) -> tuple[str, ...]:
        """Their names: the loaded model's first, the embedder's last."""
        model, embedder = self._loaded(), self._embedder()
        found: dict[CutKind, list[str]] = {
            "model": [model.model.file.name] if model and not model.death else [],
            "encoding": [name for name in ENCODINGS if "encoding" in kinds and tiktoken_encoding(name)],
            "embedder": [embedder.tokenizer.name] if embedder else [],
        }
        return tuple(name for kind, names in found.items() if kind in kinds for name in names)

    def cuts(self, text: str, kinds: Sequence[CutKind] = KINDS) -> tuple[Cut, ...]:
        """``text`` under each of ``tokenizers``; the embedder's process may have to start first.

        Raises:
            EngineError: a process of theirs fails.
        """
        return tuple(self.cut(text, name) for name in self.tokenizers(kinds))

    def cut(self, text: str, tokenizer: str) -> Cut:
        """``text`` under one of them. Raises NotFoundError, EngineError."""
        model, embedder = self._loaded(), self._embedder()
        if model and model.model.file.name == tokenizer:
            pieces = _of_model(model, text)
            return Cut(tokenizer, "model", pieces, told=bool(pieces) or not text)
        if tokenizer in ENCODINGS and (encoding := tiktoken_encoding(tokenizer)):
            numbers = encoding.encode_ordinary(text)
            pieces = tuple(Piece(_shown(encoding.decode_single_token_bytes(n)), n) for n in numbers)
            return Cut(tokenizer, "encoding", pieces)
        if embedder and embedder.tokenizer.name == tokenizer:
            spans = embedder.tokenizer.offsets(text) if text else []
            return Cut(tokenizer, "embedder", tuple(Piece(text[start:end]) for start, end in spans))
        raise NotFoundError(
            tr("No such tokenizer"),
            tr("“{name}” isn't here.", name=tokenizer),
            tr("There are: {names}.", names=", ".join(self.tokenizers()) or "–"),
        )

    def compare(self, first: str, second: str, tokenizer: str = "") -> PrefixReport:
        """What a prefix cache serves of ``second`` after ``first``, and what breaks it.

        Args:
            tokenizer: one of ``tokenizers``; the first of them that tells its tokens when "".

        Raises:
            NotFoundError: there is no tokenizer, or none of that name, or its server doesn't tell its tokens.
            EngineError: a process fails.
        """
        name = tokenizer or next((name for name in self.tokenizers() if self.cut(second, name).told), "")
        if not self.cut(second, name).told:
            raise NotFoundError(
                tr("Its tokens are untold"),
                tr("The server of “{name}” doesn't tell its tokens.", name=name),
                tr("Choose another tokenizer: workbench tokens show lists them."),
            )
        return compare_prompts(first, second, name, lambda text: self.cut(text, name).pieces)


def _of_model(model: Generator, text: str) -> tuple[Piece, ...]:
    """As it would be sent, BOS included; no pieces of a server that doesn't tell them."""
    return tuple(Piece(token.text, token.id, token.special) for token in model.tokens(text)) if text else ()


def _shown(octets: bytes) -> str:
    return octets.decode("utf-8", "backslashreplace")
