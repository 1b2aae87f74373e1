"""Models of servers among the files: their rows, their card, and where they really run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from screens.style import Line, Tone, count, size
from screens.widgets.facts import Fact
from screens.widgets.grid import Row
from workbench.i18n import tr
from workbench.records.models import parameter_count
from workbench.records.servers import Reach, ServedModel, Server

SERVED: Final = "⌁"
"""The mark of a model that a server has."""


@dataclass(frozen=True, slots=True)
class Served:
    """A model with its server; ``model`` is None for a server that can't be used."""

    server: Server
    model: ServedModel | None = None

    @property
    def key(self) -> str:
        """As commands name it: URL#NAME."""
        return f"{self.server.endpoint.url}#{self.model.id if self.model else ''}"

    @property
    def reach(self) -> Reach:
        """Where it computes."""
        return self.model.reach if self.model else self.server.reach


def served_by(server: Server) -> Iterator[Served]:
    """The server's models; itself, when it has none to offer."""
    yield from (Served(server, model) for model in server.models) if server.models else (Served(server),)


def served_row(served: Served, used: str) -> Row:
    """A line beside those of the files: its last column says where it runs."""
    model, where = served.model, _where(served.reach)
    if model is None:
        return Row(served.key, (("✗", Tone.BAD), served.server.endpoint.url, "–", "–", "–", "–", where))
    mark: Line = ("●", Tone.GOOD) if served.key == used else (SERVED, Tone.ACCENT if model.loaded else Tone.DIM)
    return Row(
        served.key,
        (
            mark,
            model.name.removesuffix(".gguf"),
            model.quantization or "–",
            size(model.bytes) if model.bytes else "–",
            parameter_count(model.parameters) if model.parameters else "–",
            count(model.context) if model.context else "–",
            where,
        ),
    )


def served_card(served: Served) -> list[Fact]:
    """Its badge, what its server tells of it, and what that doesn't tell."""
    server, model = served.server, served.model
    badge = f"{tr('served')} · {where_words(served.reach)}"
    facts: list[Fact] = [
        (SERVED, (badge, Tone.STRONG if served.reach == "machine" else Tone.WARN)),
        ("⚠", (tr("its port listens beyond this machine"), Tone.WARN) if server.exposed else ""),
        ("✗", (server.problem, Tone.BAD)),
        (tr("server"), f"{server.kind} {server.version}".strip() + f" · {server.endpoint.url}"),
    ]
    if model is None:
        return facts
    loaded = {True: tr("loaded there"), False: tr("not loaded there: the first question waits for it")}
    return [
        *facts,
        (tr("kind"), tr("it embeds") if model.kind == "embedding" else ""),
        (tr("state"), loaded.get(model.loaded, "") if model.loaded is not None else ""),
        (tr("architecture"), model.family),
        (tr("params"), parameter_count(model.parameters) if model.parameters else ""),
        (tr("context"), tr("{count} tokens", count=count(model.context)) if model.context else tr("it doesn't tell")),
        (tr("quantization"), model.quantization),
        (tr("size"), size(model.bytes) if model.bytes else ""),
        (tr("takes"), ", ".join(model.capabilities)),
        (tr("memory"), (tr("its server's own: it isn't told"), Tone.DIM)),
    ]


def _where(reach: Reach) -> Line:
    """In a word, for the column."""
    words = {"machine": tr("here"), "network": tr("network"), "cloud": tr("cloud")}
    return (words[reach], Tone.DIM if reach == "machine" else Tone.WARN)


def where_words(reach: Reach) -> str:
    """ "this machine", "the network", "the cloud"."""
    return {"machine": tr("this machine"), "network": tr("the network"), "cloud": tr("the cloud")}[reach]
