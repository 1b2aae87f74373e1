"""The served models that a person chose to embed with, remembered with all that their vectors depend on."""

from __future__ import annotations

import json
from typing import Final

from workbench.ports import SettingsRepository
from workbench.records.codec import decode, encode
from workbench.records.servers import EmbedderCard, short_name
from workbench.servers.embedder import ServedEmbedder
from workbench.servers.timeouts import timeouts_in
from workbench.servers.wire import Wire

CARDS_SETTING: Final = "servers.embedders"


class ServedEmbedders:
    """Every method may be called from any thread, and asks no server."""

    def __init__(self, settings: SettingsRepository) -> None:
        self._settings = settings

    def names(self) -> tuple[str, ...]:
        """Of those that were chosen, each "model@address", with its prefixes where it has some."""
        return tuple(self._cards())

    def card(self, name: str) -> EmbedderCard | None:
        """What is known of it."""
        return self._cards().get(name)

    def open(self, name: str) -> ServedEmbedder | None:
        """None when none goes by that name."""
        card = self.card(name)
        return ServedEmbedder(Wire(card.endpoint, timeouts_in(self._settings)), card) if card else None

    def remember(self, card: EmbedderCard) -> str:
        """Keeps it, and returns its name."""
        cards = self._cards() | {_name_of(card): card}
        self._settings.set(CARDS_SETTING, json.dumps(encode(tuple(cards.values())), ensure_ascii=False))
        return _name_of(card)

    def forget(self, url: str) -> None:
        """Those at that address: nothing is asked of it any more."""
        left = tuple(card for card in self._cards().values() if card.endpoint.url != url)
        self._settings.set(CARDS_SETTING, json.dumps(encode(left), ensure_ascii=False))

    def _cards(self) -> dict[str, EmbedderCard]:
        try:
            cards = decode(tuple[EmbedderCard, ...], json.loads(self._settings.get(CARDS_SETTING, "[]")))
        except (ValueError, TypeError, KeyError, AttributeError):  # something else wrote there
            return {}
        return {_name_of(card): card for card in cards}


def _name_of(card: EmbedderCard) -> str:
    """Other prefixes make other vectors, so they are part of the name."""
    prefixes = f" ({card.query_prefix}|{card.passage_prefix})" if card.query_prefix or card.passage_prefix else ""
    return f"{short_name(card.model)}@{card.endpoint.url}{prefixes}"
