"""Notes about models, and presets of loading and asking them."""

from __future__ import annotations

import json

from storage.connections import Connections
from workbench.records.codec import decode, encode
from workbench.records.library import ModelNote, Preset


class FileLibrary:
    """Implements ``workbench.ports.LibraryRepository``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def notes(self) -> dict[str, ModelNote]:
        """All notes by their keys."""
        with self._connections.read() as c:
            rows = c.execute("SELECT key, body FROM model_note").fetchall()
        return {key: decode(ModelNote, json.loads(body)) for key, body in rows}

    def put_note(self, key: str, note: ModelNote) -> None:
        """Stores it in place of the one that was there."""
        row = (key, json.dumps(encode(note)))
        self._connections.write(lambda c: c.execute("INSERT OR REPLACE INTO model_note (key, body) VALUES (?, ?)", row))

    def delete_note(self, key: str) -> None:
        """Drops it; one that isn't there is dropped already."""
        self._connections.write(lambda c: c.execute("DELETE FROM model_note WHERE key = ?", (key,)))

    def presets(self) -> tuple[Preset, ...]:
        """By name."""
        with self._connections.read() as c:
            rows = c.execute("SELECT body FROM model_preset ORDER BY name").fetchall()
        return tuple(decode(Preset, json.loads(body)) for (body,) in rows)

    def put_preset(self, preset: Preset) -> None:
        """Stores it in place of the one of its name."""
        row = (preset.name, json.dumps(encode(preset)))
        statement = "INSERT OR REPLACE INTO model_preset (name, body) VALUES (?, ?)"
        self._connections.write(lambda c: c.execute(statement, row))

    def delete_preset(self, name: str) -> None:
        """Drops it; one that isn't there is dropped already."""
        self._connections.write(lambda c: c.execute("DELETE FROM model_preset WHERE name = ?", (name,)))
