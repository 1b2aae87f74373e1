"""The SQL tools that the desk hands out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from workbench.errors import MissingModelError, QueryError
from workbench.i18n import tr
from workbench.ports import Cancel, Generator, Store
from workbench.records.sql import Policy, QueryLimits, QueryResult, Schema, SqlHistory, Verdict
from workbench.sqltools.asking import SqlAsked, ask, visible
from workbench.sqltools.limits import hold
from workbench.sqltools.validator import validate

KEPT: Final = 200
"""Queries that the history keeps."""
ASKED: Final = Policy(rows=100, seconds=1.5, rewrite=True)
"""What a model's query may do."""
HISTORY: Final = "console"


def refused(verdict: Verdict) -> QueryError:
    """The error that a verdict is which refuses: of the engine when it doesn't understand the query."""
    unknown = any(control.name == "dialect" and control.state == "refused" for control in verdict.controls)
    return QueryError(tr("Not a query") if unknown else tr("Not allowed"), verdict.refusal, kind="forbidden")


class SqlTools:
    """Queries on the workbench's own file (``file`` None) or on another SQLite file, which can only read.

    Every method may be called from any thread, and raises NotFoundError or FileError when the file can't be read.
    """

    def __init__(self, store: Store, model: Callable[[], Generator | None]) -> None:
        self._reader, self._entries, self._traces = store.sql, store.entries, store.traces
        self._model = model
        self._lock = threading.Lock()

    def schema(self, file: Path | None = None) -> Schema:
        """Tables with columns, types, keys, indexes and rows."""
        return self._reader.schema(file)

    def check(
        self,
        sql: str,
        file: Path | None = None,
        policy: Policy | None = None,
        question: str = "",
        schema: Schema | None = None,
    ) -> Verdict:
        """The nine controls, the linter's findings and the plan; nothing runs.

        Args:
            schema: as read before, where it is at hand.

        Raises:
            UsageError: ``policy`` limits what the file hasn't got.
        """
        known, limits = schema or self._reader.schema(file), policy or Policy()
        compile_ = partial(self._reader.compile, file)
        return validate(sql, known, hold(limits, known, compile_), compile_, question)

    def run(self, verdict: Verdict, file: Path | None, policy: Policy, cancel: Cancel | None = None) -> QueryResult:
        """The rows of a query that was accepted. Raises QueryError (refused, failed, too slow), Cancelled."""
        if not verdict.accepted:
            raise refused(verdict)
        return self._reader.run(file, verdict.sql, QueryLimits(policy.rows, policy.seconds), cancel)

    def ask(
        self, question: str, file: Path | None = None, policy: Policy = ASKED, cancel: Cancel | None = None
    ) -> Iterator[SqlAsked]:
        """A question answered with a query of the loaded model, three attempts at most; the trace is stored.

        The model is told the tables and columns that it may read, and the values of columns that repeat only a few.

        Raises:
            MissingModelError: none is loaded. UsageError: ``policy`` limits what the file hasn't got.
            EngineError, BudgetError, Cancelled.
        """
        model = self._model()
        if model is None:
            raise MissingModelError(
                tr("No model is loaded"),
                tr("A model writes the query."),
                tr("Load one on the Models screen, or name it with --model."),
            )
        schema = self.schema(file)
        held = hold(policy, schema, partial(self._reader.compile, file))

        def check(sql: str) -> Verdict:
            return self.check(sql, file, policy, question, schema)

        shown = visible(schema, held, self._reader.values(file, schema))
        for asked in ask(question, shown, model, check, lambda v: self.run(v, file, policy, cancel), cancel):
            if asked.trace.complete:
                self._traces.save(asked.trace)
            yield asked

    def history(self) -> tuple[str, ...]:
        """Queries that were run in the console, newest first."""
        kept = self._entries.get(SqlHistory, HISTORY)
        return kept.queries if kept else ()

    def remember(self, sql: str) -> None:
        """Puts a query first in the history; the oldest beyond ``KEPT`` goes."""
        with self._lock:
            others = (old for old in self.history() if old != sql)
            self._entries.put(HISTORY, SqlHistory((sql, *others)[:KEPT]))

    def forget(self) -> None:
        """Empties the history."""
        self._entries.remove(SqlHistory, HISTORY)
