"""Where time went: the newest question's and call's phases, and what the stored calls say of the next one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from screens.dialogs import NoteDialog
from screens.style import Line, Tone, content, count, shorten
from workbench.i18n import tr
from workbench.records.money import LatencyFit, Waterfall
from workbench.records.usage import Call, Forecast
from workbench.usage.times import call_phases, trace_phases
from workbench.usage.words import fit_words, flaw_words, forecast_words, marks_told, near, phase_lines

if TYPE_CHECKING:
    from workbench.desk import Desk

BAR: Final = 24
WIDTH: Final = 52
"""Of a question or a name beside its heading: one line of the narrowest dialog."""


@dataclass(frozen=True, slots=True)
class Times:
    """What there is to tell: of the newest question, and of the newest call of a model with the calls before it."""

    question: str
    asked: Waterfall | None
    call: Call | None
    forecast: Forecast | None
    fit: LatencyFit | None


def read_times(desk: Desk, model: str) -> Times:
    """Of ``model``, or of whichever was called last for ""."""
    ledger, traces = desk.money.ledger, desk.traces(1)
    question = traces[0].query if traces else ""
    asked = trace_phases(desk.trace(traces[0].id)) if traces else None
    call = next(iter(ledger.calls(1, model)), None)
    if call is None:
        return Times(question, asked, None, None, None)
    foretold = ledger.forecast(call.model, call.server), ledger.fit(call.model, call.server)
    return Times(question, asked, call, *foretold)


def times_dialog(times: Times) -> NoteDialog:
    """They, to read."""
    return NoteDialog(tr("Times"), content(*times_lines(times)), wide=True)


def times_lines(times: Times) -> list[Line]:
    """The phases as bars, then predicted against measured."""
    lines: list[Line] = []
    if times.asked:
        lines += [(f"{tr('Newest question')} ", Tone.STRONG), (shorten(times.question, WIDTH), Tone.DIM)]
        lines += [*_bars(times.asked), "\n\n"]
    if times.call is None:
        return [*lines, (tr("No model was called yet."), Tone.DIM)]
    whose = shorten(f"{times.call.model} {times.call.server}", WIDTH)
    lines += [(f"{tr('Newest call')} ", Tone.STRONG), (whose, Tone.DIM)]
    return [*lines, *_bars(call_phases(times.call)), "\n\n", *_foretold(times.call, times.forecast, times.fit)]


def _bars(parts: Waterfall) -> list[Line]:
    *phases, total = phase_lines(parts, BAR)
    return [*(f"\n{line}" for line in phases), (f"\n{total}", Tone.DIM)]


def _foretold(call: Call, forecast: Forecast | None, fit: LatencyFit | None) -> list[Line]:
    lines: list[Line] = [(tr("Predicted against measured"), Tone.STRONG)]
    if forecast:
        lines += [f" {forecast_words(forecast)}"]
    if fit is None:
        return [*lines, ("\n" + tr("Too few calls, or too much alike, to tell α from β."), Tone.DIM)]
    marked = [(f"\n{told}", Tone.DIM) for told in (marks_told(fit.estimated),) if told]
    predicted = fit.predict(call.usage.fresh, call.usage.output)
    if predicted is None:
        return [*lines, f"\n{fit_words(fit)}", (f"\n{flaw_words(fit)}", Tone.WARN), *marked]
    about = near(call.usage.estimated)
    said = tr(
        "{fresh} fresh and {output} written: {predicted} ms predicted, {measured} ms measured",
        fresh=about + count(call.usage.fresh),
        output=about + count(call.usage.output),
        predicted=f"{near(fit.estimated)}{predicted:,.0f}",
        measured=f"{call.total_ms:,.0f}",
    )
    return [*lines, f"\n{fit_words(fit)}", f"\n{said}", *marked]
