"""The ledger of model calls, and the small records that a person writes down."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final, TypeVar

from storage.connections import Connections
from storage.driver import Connection, storable
from workbench.records.codec import decode, encode
from workbench.records.money import Usage
from workbench.records.usage import Call, UsageSum

R = TypeVar("R")

KEPT: Final = 10_000
"""Calls that are kept one by one; the sums of a day hold the older ones too."""

_CALL: Final = (
    "began, server, model, purpose, fresh, cache_read, output, total_ms, ttft_ms, queue_ms, prefill_ms, "
    "decode_ms, ended, estimated"
)
_ADD: Final = f"INSERT INTO model_call ({_CALL}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key"
_ADD_TO_DAY: Final = """
INSERT INTO model_call_day (day, server, model, purpose, calls, fresh, cache_read, output, total_ms, estimated)
VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?)
ON CONFLICT (day, server, model, purpose) DO UPDATE SET calls = calls + 1, fresh = fresh + excluded.fresh,
    cache_read = cache_read + excluded.cache_read, output = output + excluded.output,
    total_ms = total_ms + excluded.total_ms, estimated = estimated OR excluded.estimated
"""


class FileCalls:
    """Implements ``workbench.ports.CallRepository``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def add(self, call: Call) -> None:
        """One more; the oldest beyond ``KEPT`` goes."""
        used, began = call.usage, call.began.astimezone(UTC)
        what = (storable(call.server), storable(call.model), call.purpose)
        tokens = (used.fresh, used.cache_read, used.output)
        clocks = (call.ttft_ms, call.queue_ms, call.prefill_ms, call.decode_ms)

        def work(c: Connection) -> None:
            row = (began.isoformat(timespec="milliseconds"), *what, *tokens, call.total_ms, *clocks, call.ended)
            (key,) = c.execute(_ADD, (*row, used.estimated)).fetchone()
            c.execute(_ADD_TO_DAY, (f"{began:%Y-%m-%d}", *what, *tokens, call.total_ms, used.estimated))
            c.execute("DELETE FROM model_call WHERE key <= ?", (key - KEPT,))

        self._connections.write(work)

    def calls(self, limit: int = 1000, model: str = "", server: str | None = None) -> tuple[Call, ...]:
        """Newest first."""
        statement = (
            f"SELECT {_CALL} FROM model_call WHERE (? = '' OR model = ?) AND (? IS NULL OR server = ?) "
            "ORDER BY key DESC LIMIT ?"
        )
        with self._connections.read() as c:
            rows = c.execute(statement, (model, model, server, server, limit)).fetchall()
        return tuple(
            Call(
                datetime.fromisoformat(began),
                where,
                name,
                purpose,
                Usage(fresh, output, cached, estimated=_noted(estimated)),
                *times,
            )
            for began, where, name, purpose, fresh, cached, output, *times, estimated in rows
        )

    def sums(self) -> tuple[UsageSum, ...]:
        """By day, server, model and purpose; newest day first."""
        statement = (
            "SELECT day, server, model, purpose, calls, total_ms, fresh, output, cache_read, estimated "
            "FROM model_call_day "
            "ORDER BY day DESC, model, server, purpose"
        )
        with self._connections.read() as c:
            return tuple(
                UsageSum(
                    day,
                    server,
                    model,
                    purpose,
                    calls,
                    Usage(fresh, output, cached, estimated=_noted(estimated)),
                    ms / 1000,
                )
                for day, server, model, purpose, calls, ms, fresh, output, cached, estimated in c.execute(statement)
            )


def _noted(estimated: int | None) -> bool | None:
    return None if estimated is None else bool(estimated)


class FileEntries:
    """Implements ``workbench.ports.EntryRepository``: a record as JSON under the name of its class and its own."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def put(self, name: str, entry: object) -> None:
        """In place of one with that name."""
        statement = (
            "INSERT INTO entry (kind, name, body) VALUES (?, ?, ?) "
            "ON CONFLICT (kind, name) DO UPDATE SET body = excluded.body"
        )
        row = (type(entry).__name__, storable(name), json.dumps(encode(entry)))
        self._connections.write(lambda c: c.execute(statement, row))

    def all(self, kind: type[R]) -> tuple[R, ...]:
        """By name."""
        with self._connections.read() as c:
            rows = c.execute("SELECT body FROM entry WHERE kind = ? ORDER BY name", (kind.__name__,)).fetchall()
        found: list[R] = []
        for (body,) in rows:
            with suppress(TypeError, ValueError, KeyError):  # an other version wrote it
                found.append(decode(kind, json.loads(body)))
        return tuple(found)

    def get(self, kind: type[R], name: str) -> R | None:
        """None when there is none."""
        statement = "SELECT body FROM entry WHERE kind = ? AND name = ?"
        with self._connections.read() as c:
            row = c.execute(statement, (kind.__name__, storable(name))).fetchone()
        return decode(kind, json.loads(row[0])) if row else None

    def remove(self, kind: type[object], name: str) -> bool:
        """Whether there was one."""
        statement = "DELETE FROM entry WHERE kind = ? AND name = ?"
        return bool(self._connections.write(lambda c: c.execute(statement, (kind.__name__, storable(name))).rowcount))
