"""The growing trace: spans with their times, up to the complete one that is stored."""

from __future__ import annotations

import time
from dataclasses import replace

from workbench.answers.manifest import new_trace_id, now
from workbench.errors import Cancelled
from workbench.ports import Cancel, TraceRepository
from workbench.records.answers import Answer, Decision, Manifest, Stage, Trace, TraceSpan


class Growth:
    """Keeps one question's trace. Times are milliseconds since it was made."""

    def __init__(self, query: str, manifest: Manifest, traces: TraceRepository, cancel: Cancel | None) -> None:
        self.trace = Trace(new_trace_id(), now(), query, manifest)
        self._traces = traces
        self._cancel = cancel
        self._origin = time.perf_counter()
        self._begun = 0.0

    def begin(self) -> None:
        """Starts the clock of the next span. Raises Cancelled when the person has stopped the question."""
        if self._cancel is not None and self._cancel.is_set():
            raise Cancelled
        self._begun = self._elapsed()

    def span(self, name: str, output: Stage, **metadata: str | int | float | bool) -> Trace:
        """The trace with a span that ends now; a span of the same name that is last is replaced by it."""
        span = TraceSpan(name, self._begun, self._elapsed() - self._begun, output, metadata=metadata)
        self.trace = self.trace.grow(span)
        return self.trace

    def finish(self, answer: Answer, decision: Decision) -> Trace:
        """The complete trace, stored."""
        self._begun = self._elapsed()
        self.span("decision", decision)
        self.trace = replace(self.trace, answer=answer, complete=True)
        self._traces.save(self.trace)
        return self.trace

    def _elapsed(self) -> float:
        return (time.perf_counter() - self._origin) * 1000
