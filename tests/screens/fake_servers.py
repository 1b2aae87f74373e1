"""The servers of the fake desk: those a test puts there, in the shapes that real ones tell."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.errors import ServerError
from workbench.ports import Cancel
from workbench.records.models import LoadedModel, LoadSettings, MemorySplit, ModelFile
from workbench.records.servers import Endpoint, ServedModel, Server

LOCAL = Server(
    Endpoint("http://127.0.0.1:11434"),
    "ollama",
    "0.12.6",
    "machine",
    True,
    (
        ServedModel("smollm2:135m", "chat", 4096, True, "machine", 270_898_672, 134_515_008, "F16", "llama"),
        ServedModel("gpt-oss:120b-cloud", "chat", None, False, "cloud"),
        ServedModel("nomic-embed-text:latest", "embedding", 2048, False),
    ),
    3.0,
)
DISTANT = Server(
    Endpoint("http://gpu-box:8000"), "openai", "", "network", None, (), 0.0, "Nobody answers: Connection refused"
)


class FakeServers:
    """``there`` are those that answer; ``looked`` is how each look was made; ``gone``: their models can't be used."""

    def __init__(self) -> None:
        self.there: tuple[Server, ...] = ()
        self.looked: list[bool] = []
        self.gone = False

    def discover(self, cancel: Cancel | None = None, *, everywhere: bool = True) -> Iterator[Server]:
        self.looked.append(everywhere)
        yield from (server for server in self.there if everywhere or server.reach == "machine")

    def use(self, name: str) -> LoadedModel:
        if self.gone:
            raise ServerError("Nobody answers", "It was there a moment ago.", "Start the server.", layer="endpoint")
        url, _, model = name.partition("#")
        file = ModelFile(name, model, 0, chat_template="x")
        return LoadedModel(file, LoadSettings(), 4096, MemorySplit(), 0.0, 0, server=url)
