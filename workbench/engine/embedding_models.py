"""The plug-in point for embedders: what a runtime must offer, which there are, and how others add theirs.

A runtime is a function that loads a model for a ``LoadEmbedder`` request, in the embedder's own child process. A
package adds one under the entry point group ``workbench.embedders``; an embedder's folder names it in ``embedder.json``
as ``"runtime"``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from typing import Final, Protocol, TypeAlias, cast

from workbench.engine.protocol import LoadEmbedder
from workbench.ports import Embedding

GROUP: Final = "workbench.embedders"
BUILT_IN: Final = {
    "onnx": "workbench.engine.onnx:OnnxModel",
    "use": "workbench.engine.use:UseModel",
    "gguf": "workbench.engine.gguf_embedder:GgufModel",
}
"""Runtimes by name; each is imported in the child only."""


class EmbeddingModel(Protocol):
    """A loaded embedder. ``spans`` may be called while another thread embeds."""

    def embed(self, text: str, prefix: int | None) -> Embedding:
        """The vector of ``text`` (its prefix included), and those of its tokens.

        Args:
            prefix: characters of the prefix, whose tokens are left out; None: no token vectors are wanted.

        Raises whatever its runtime raises.
        """
        ...

    def spans(self, text: str) -> list[tuple[int, int]]:
        """The character span (start, end) of each token of ``text``: no special tokens, no truncation."""
        ...


Runtime: TypeAlias = Callable[[LoadEmbedder], EmbeddingModel]


def runtimes() -> tuple[str, ...]:
    """Names of all runtimes, those of other packages included."""
    return tuple(sorted({*BUILT_IN, *(point.name for point in entry_points(group=GROUP))}))


def find_runtime(name: str) -> Runtime:
    """Raises LookupError for an unknown one, ImportError when its package isn't whole."""
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        return cast(Runtime, getattr(import_module(module), attribute))
    for point in entry_points(group=GROUP, name=name):
        return cast(Runtime, point.load())
    raise LookupError(f"there is no runtime {name!r} for embedders; there are: {', '.join(runtimes())}")
