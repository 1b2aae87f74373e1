"""The child process: ``python -m workbench.engine.child KIND``, started by ``workbench.engine.process``."""

from __future__ import annotations

import sys

from workbench.engine.protocol import Event, Request
from workbench.processes.child import Server, serve
from workbench.processes.wire import Wire


def llama(wire: Wire[Request, Event]) -> Server[Request]:
    """Serves a language model."""
    from workbench.engine.llama import LlamaServer  # native runtimes: each child imports its own

    return LlamaServer(wire)


def embed(wire: Wire[Request, Event]) -> Server[Request]:
    """Serves an embedder."""
    from workbench.engine.embed_server import EmbedServer

    return EmbedServer(wire)


def ladder(wire: Wire[Request, Event]) -> Server[Request]:
    """Makes quantizations and holds them against their reference."""
    from workbench.engine.ladder import LadderServer

    return LadderServer(wire)


def rerank(wire: Wire[Request, Event]) -> Server[Request]:
    """Scores pairs of a question and a passage."""
    from workbench.engine.pair_server import PairServer

    return PairServer(wire)


if __name__ == "__main__":
    serve({"llama": llama, "embed": embed, "ladder": ladder, "rerank": rerank}[sys.argv[1]])
