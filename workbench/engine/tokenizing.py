"""An embedder's own tokenizer: the one that its child answers with, and one that loads itself for another process.

Both are the port ``Tokenizer``: no special tokens, no truncation. Loading a tokenizer holds the interpreter lock for
most of a second, which is why no process with a screen does it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from workbench.engine import protocol
from workbench.engine.process import ChildProcess
from workbench.errors import EngineError
from workbench.i18n import tr

if TYPE_CHECKING:
    import tokenizers

    from workbench.engine.gguf_embedder import Vocabulary
    from workbench.ports import Tokenizer

_REMEMBERED: Final = 256  # counts: the same passages are counted again as questions are asked of them


class LoadedTokenizer:
    """Loads in this process, with the first text; any thread may use it, and others run meanwhile."""

    def __init__(self, name: str, file: Path) -> None:
        self._name = name
        self._file = file
        self._lock = threading.Lock()
        self._loaded: tokenizers.Tokenizer | None = None

    @property
    def name(self) -> str:
        """The embedder's."""
        return self._name

    def count(self, text: str) -> int:
        """Tokens of ``text``."""
        # The batch calls, for one text, because only they release the interpreter lock.
        [encoding] = self._tokenizer.encode_batch_fast([text], add_special_tokens=False)
        return len(encoding)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Character span (start, end) of each token of ``text``, in order."""
        [encoding] = self._tokenizer.encode_batch([text], add_special_tokens=False)
        return encoding.offsets

    @property
    def _tokenizer(self) -> tokenizers.Tokenizer:
        with self._lock:
            if self._loaded is None:
                from tokenizers import Tokenizer

                self._loaded = Tokenizer.from_file(str(self._file))
                self._loaded.no_truncation()
                self._loaded.no_padding()
            return self._loaded


class GgufTokenizer:
    """A GGUF file's own tokenizer, for a process that may load native code: loads the vocabulary, not the weights."""

    def __init__(self, name: str, file: Path) -> None:
        self._name = name
        self._file = file
        self._lock = threading.Lock()
        self._loaded: Vocabulary | None = None

    @property
    def name(self) -> str:
        """The embedder's."""
        return self._name

    def count(self, text: str) -> int:
        """Tokens of ``text``."""
        return len(self._vocabulary.spans(text))

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """As ``workbench.engine.gguf_embedder.Vocabulary.spans``."""
        return self._vocabulary.spans(text)

    @property
    def _vocabulary(self) -> Vocabulary:
        with self._lock:
            if self._loaded is None:
                from workbench.engine.gguf_embedder import Vocabulary

                self._loaded = Vocabulary.open(self._file)
            return self._loaded


class ChildTokenizer:
    """Asks the embedder's child, which has it loaded anyway; starts the child when none runs.

    Pickled, it becomes one that loads itself in the process that it is sent to.

    Args:
        elsewhere: makes that one of the name and the file.

    Raises:
        EngineError: from every count, when the child can't be started or dies.
    """

    def __init__(
        self,
        name: str,
        file: Path,
        child: Callable[[], ChildProcess],
        elsewhere: Callable[[str, Path], Tokenizer] = LoadedTokenizer,
    ) -> None:
        self._name = name
        self._file = file
        self._child = child
        self._elsewhere = elsewhere
        self._remembered = lru_cache(_REMEMBERED)(self._count)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._elsewhere, (self._name, self._file)

    @property
    def name(self) -> str:
        """The embedder's."""
        return self._name

    def count(self, text: str) -> int:
        """Tokens of ``text``."""
        return self._remembered(text)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Character span (start, end) of each token of ``text``, in order."""
        events = self._ask(lambda id_: protocol.Locate(id_, text))
        return [span for event in events if isinstance(event, protocol.Located) for span in event.offsets]

    def _count(self, text: str) -> int:
        events = self._ask(lambda id_: protocol.Count(id_, text))
        return sum(event.tokens for event in events if isinstance(event, protocol.Counted))

    def _ask(self, make_request: Callable[[int], protocol.Request]) -> Iterator[protocol.Event]:
        for event in self._child().ask(make_request):
            if isinstance(event, protocol.Failed):
                raise EngineError(
                    tr("{name} can't count", name=self._name),
                    tr("The embedding model says: {reason}", reason=event.detail),
                    tr("Run `workbench starter` to fetch it again."),
                )
            yield event
