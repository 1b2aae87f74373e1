"""Models on offer, here and elsewhere, and what a probe of one found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal, TypeAlias

from workbench.records.servers import Layer

Filter: TypeAlias = Literal["exists", "usable", "accepts", "approved"]
"""The provider lists it; this account can call it; its endpoint takes what is sent; an evaluation approves."""

VersionPolicy: TypeAlias = Literal["", "pinned", "stable", "preview", "latest"]


@dataclass(frozen=True, slots=True)
class Passed:
    """What is known of a filter: whether it was passed, where that was seen, and when."""

    passed: bool
    evidence: str
    checked: date


@dataclass(frozen=True, slots=True)
class Offer:
    """A model of a provider as a person, a server or a probe describes it.

    Attributes:
        provider: who runs it: "local", a server's address, a company.
        endpoint: what is called: an address, or a file's path.
        context: tokens, None untold.
        modalities: "text", "image", "audio", "embedding".
        tools, json: it takes tool definitions; it can be held to a JSON schema; None untold.
        retention: what is kept of what is sent, and ``region`` where, in the provider's words.
        checked: the day these facts were true.
        filters: those that something is known of.
    """

    provider: str
    model: str
    endpoint: str = ""
    context: int | None = None
    modalities: tuple[str, ...] = ("text",)
    tools: bool | None = None
    json: bool | None = None
    retention: str = ""
    region: str = ""
    version: VersionPolicy = ""
    checked: date = date.min
    filters: Mapping[str, Passed] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """ "provider#model"."""
        return f"{self.provider}#{self.model}"


@dataclass(frozen=True, slots=True)
class ProbeStep:
    """One layer of a call, tried.

    Attributes:
        layer: what is in order, or fails.
        passed: None where there was nothing to try it by.
        detail: what was seen, or the error's words.
    """

    layer: Layer
    passed: bool | None
    detail: str
    ms: float
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """A model probed, layer by layer; it ends with the first that fails.

    Attributes:
        offer: the inventory's model whose filters were written, "" for none so far.
    """

    model: str
    began: datetime
    steps: tuple[ProbeStep, ...] = ()
    offer: str = ""

    @property
    def failed(self) -> ProbeStep | None:
        """The step that failed, None when none has so far."""
        return next((step for step in self.steps if step.passed is False), None)

    @property
    def untried(self) -> tuple[Layer, ...]:
        """Layers that couldn't be tried."""
        return tuple(step.layer for step in self.steps if step.passed is None)
