"""Model files that were seen, and the folders to look in."""

from __future__ import annotations

import json

from storage.connections import Connections
from workbench.records.codec import decode, encode
from workbench.records.models import MemoryMeasurement, ModelFile

LATEST_LOADS = 200


class FileModels:
    """Implements ``workbench.ports.ModelRepository``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def save_file(self, file: ModelFile) -> None:
        """Upsert by path."""
        row = (file.path, file.name, json.dumps(encode(file)))
        statement = "INSERT OR REPLACE INTO model_file (path, name, body) VALUES (?, ?, ?)"
        self._connections.write(lambda c: c.execute(statement, row))

    def files(self) -> tuple[ModelFile, ...]:
        """By name."""
        with self._connections.read() as c:
            rows = c.execute("SELECT body FROM model_file ORDER BY name, path").fetchall()
        return tuple(decode(ModelFile, json.loads(body)) for (body,) in rows)

    def forget(self, path: str) -> None:
        """Drops one that is gone from disk."""
        self._connections.write(lambda c: c.execute("DELETE FROM model_file WHERE path = ?", (path,)))

    def folders(self) -> tuple[str, ...]:
        """Folders the person added."""
        with self._connections.read() as c:
            return tuple(path for (path,) in c.execute("SELECT path FROM model_folder ORDER BY path"))

    def add_folder(self, path: str) -> None:
        """Remembers a folder."""
        self._connections.write(lambda c: c.execute("INSERT OR IGNORE INTO model_folder (path) VALUES (?)", (path,)))

    def add_measurement(self, measurement: MemoryMeasurement) -> None:
        """Enters a load in the ledger of memory."""
        row = (json.dumps(encode(measurement)),)
        self._connections.write(lambda c: c.execute("INSERT INTO memory_load (body) VALUES (?)", row))

    def measurements(self) -> tuple[MemoryMeasurement, ...]:
        """The latest loads, newest first."""
        with self._connections.read() as c:
            rows = c.execute("SELECT body FROM memory_load ORDER BY id DESC LIMIT ?", (LATEST_LOADS,)).fetchall()
        return tuple(decode(MemoryMeasurement, json.loads(body)) for (body,) in rows)
