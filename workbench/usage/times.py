"""Where the time of a call, or of a whole question, went: phases that add up to the total."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence

from workbench.answers.manifest import SERVER_SETTING
from workbench.money.times import latency, waterfall
from workbench.records.answers import Generation, Trace
from workbench.records.money import Usage, Waterfall, estimated_among
from workbench.records.usage import Call, Forecast
from workbench.servers.discovery import reach_of


def call_phases(call: Call) -> Waterfall:
    """Queue, prefill and decode by the runtime's clock, and what lies between it and ours.

    Of a call to another machine, what of the time to the first token its server doesn't account for is the network's;
    on this one, where a network takes next to nothing, it stays unexplained. A runtime that tells nothing leaves what
    it did until the first token in one phase, and decode = the rest.
    """
    return waterfall(call.total_ms, _phases(call))


def _phases(call: Call) -> dict[str, float]:
    if call.ttft_ms is None:
        return {}
    first = min(call.ttft_ms, call.total_ms)
    after = call.total_ms - first
    queue = min(call.queue_ms or 0.0, first)
    if call.prefill_ms is None:
        return {"queue": queue, "first": first - queue, "decode": after}
    prefill = min(call.prefill_ms, first - queue)
    network = first - queue - prefill if call.server and reach_of(call.server) != "machine" else 0.0
    decode = after if call.decode_ms is None else min(call.decode_ms, after)
    return {"network": network, "queue": queue, "prefill": prefill, "decode": decode}


def trace_phases(trace: Trace) -> Waterfall:
    """A question's time: the model's calls, the checks after the last one, and all else, as searching, as tools.

    A query that a model wrote runs in the span it was written in.
    """
    total = max((span.start_ms + span.duration_ms for span in trace.spans), default=0.0)
    spent: defaultdict[str, float] = defaultdict(float)
    last = total
    for span in trace.spans:
        if isinstance(said := span.output, Generation):
            took = span.duration_ms if span.name == "generation" else min(said.duration_ms, span.duration_ms)
            for name, ms in _phases(_as_call(trace, said, took)).items():
                spent[name] += ms
            spent["tools"] -= took
            last = span.start_ms + span.duration_ms
    spent["tools"] += last
    return waterfall(total, {name: max(0.0, ms) for name, ms in {**spent, "checks": total - last}.items()})


def _as_call(trace: Trace, said: Generation, spent_ms: float) -> Call:
    times, used = said.engine, Usage(said.prompt_tokens - said.reused_tokens, said.output_tokens, said.reused_tokens)
    clocks = (times.queue_ms, times.prompt_ms or None, times.decode_ms or None) if times else (None, None, None)
    server = str(trace.manifest.settings.get(SERVER_SETTING, ""))
    return Call(trace.created, server, trace.manifest.model, "ask", used, spent_ms, said.ttft_ms, *clocks)


def forecast(calls: Sequence[Call]) -> Forecast | None:
    """How well the medians of TTFT and TPOT foretell the calls; None without a call of two tokens."""
    timed = [(c, c.ttft_ms, c.tpot_ms) for c in calls if c.ttft_ms is not None and c.tpot_ms is not None and c.total_ms]
    known = [(c, ttft, tpot) for c, ttft, tpot in timed if ttft is not None and tpot is not None]
    if not known:
        return None
    tpot = statistics.median(t for _, _, t in known)
    missed = [abs(latency(ttft, tpot, c.usage.output) - c.total_ms) / c.total_ms for c, ttft, _ in known]
    near = estimated_among(c.usage for c, _, _ in known)
    return Forecast(statistics.median(t for _, t, _ in known), tpot, len(known), statistics.median(missed), near)
