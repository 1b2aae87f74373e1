"""The strip of gauges: what the model's process measures of itself, several times a second.

One line where there is little room, two where there is more, the second with what was lately; a key shows all there is,
in as many lines as that takes. Nothing that wasn't measured is shown as a number.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from rich.cells import cell_len
from textual.content import Content
from textual.widgets import Static

from screens.style import Line, Tone, bar, content, count, gauge, plain, size
from screens.widgets.top import ended_words
from workbench.i18n import tr
from workbench.playground.words import seconds_left
from workbench.records.answers import Generation
from workbench.records.models import DeviceMemory, Gauges, Offload
from workbench.records.playground import Pulse

if TYPE_CHECKING:
    from workbench.desk import DeskStatus

ROOMY: Final = 110
"""Cells from which on there are two lines."""
LATELY: Final = 10
"""Cells of a sparkline."""
SPARK_S: Final = 1.0
"""What was lately is drawn anew this often; the figures with every status."""
GAP: Final = "   "
NOTHING: Final[Line] = ("–", Tone.DIM)

Series: TypeAlias = dict[str, tuple[str, float]]
"""Name → its sparkline and its peak."""

MEASURES: Final[dict[str, Callable[[Pulse], float | None]]] = {
    "ttft": lambda pulse: pulse.generation.ttft_ms if pulse.generation else None,
    "prefill": lambda pulse: prefill_rate(pulse.generation),
    "decode": lambda pulse: decode_rate(pulse.generation),
    "rss": lambda pulse: pulse.gauges.rss,
    "cpu": lambda pulse: pulse.gauges.cpu_percent,
}


def prefill_rate(generation: Generation | None) -> float | None:
    """Prompt tokens per second: by the engine's clock when the prompt is read, before that by what is read so far."""
    if generation is None:
        return None
    engine = generation.engine.prefill_tps if generation.engine else None
    return engine if engine and generation.ttft_ms is not None else generation.prefill_tps


def decode_rate(generation: Generation | None) -> float | None:
    """Generated tokens per second by the engine's clock."""
    return generation.engine.decode_tps if generation and generation.engine else None


def lately(pulses: Sequence[Pulse]) -> Series:
    """Sparkline and peak of each measure and of each GPU over the pulses; speeds where the model worked only."""
    working = [now for now, before in zip(pulses[1:], pulses, strict=False) if _moved(now, before)]
    found: Series = {}
    for name, measure in MEASURES.items():
        told = [measure(pulse) for pulse in (pulses if name in ("rss", "cpu") else working)]
        values = [value for value in told if value is not None]
        if values:
            found[name] = sparkline(values, LATELY), max(values)
    held: dict[str, list[float]] = {}
    for device in (device for pulse in pulses for device in pulse.gauges.devices if device.process is not None):
        held.setdefault(f"gpu{device.index}", []).append(device.process or 0)
    return found | {name: (sparkline(values, LATELY), max(values)) for name, values in held.items()}


def _moved(now: Pulse, before: Pulse) -> bool:
    was = before.generation
    return now.generation is not None and (was is None or was.duration_ms != now.generation.duration_ms)


def sparkline(values: Sequence[float], width: int) -> str:
    """Values, oldest first, as at most ``width`` cells from 0 to their peak; each cell the mean of its share."""
    cells = min(width, len(values))
    top = max(values, default=0) or 1
    bounds = [round(i * len(values) / cells) for i in range(cells + 1)] if cells else [0]
    shares = (values[start:end] for start, end in itertools.pairwise(bounds))
    return "".join(gauge(sum(share) / len(share) / top) for share in shares)


class GaugesStrip(Static):
    """Follows the status; ``update`` shows something else in its place, as the progress of a load."""

    def __init__(self) -> None:
        super().__init__("", id="gauges", classes="pane")
        self._lately: Series = {}
        self._drawn = float("-inf")

    def show(self, status: DeskStatus) -> None:
        """Draws the latest pulse."""
        now = time.monotonic()
        if now - self._drawn >= SPARK_S:
            self._lately, self._drawn = lately(status.pulses), now
        width = self.content_size.width or 78
        self.update(strip(status, width, self._lately, whole=self.has_class("-whole")))


def strip(status: DeskStatus, width: int, series: Series, *, whole: bool = False) -> Content:
    """One line in less than ``ROOMY`` cells, else two; the ``whole`` of a model's process in as many as it takes."""
    if status.ended:
        return content(("✗ " + ended_words(status), Tone.BAD), (" · " + tr("R tells why"), Tone.DIM))
    pulse = status.pulses[-1] if status.pulses else None
    if status.model and status.model.server:
        return _served(status, pulse, width)
    if status.model is None or pulse is None:
        return _unloaded(status, width, whole=whole)
    if whole:
        told = (*_speed(pulse, series), _context(pulse, 12), *_offload(status.model.offload, pulse.gauges))
        lines = _flowing((*told, *_process(pulse.gauges, series), *_machine(status.gauges)), width)
        return Content("\n").join(content(line) for line in lines)
    if width < ROOMY:
        small: Line = (("RSS ", Tone.DIM), size(pulse.gauges.rss))
        fallen = _offload(status.model.offload, pulse.gauges) if status.model.offload.reason else ()
        told = (*_speed(pulse, {})[:3], *fallen, _context(pulse, 4), small, *_machine(status.gauges)[1:])
        return content(_fitting(told, width, "  "))
    return content(_fitting(_speed(pulse, series), width), "\n", _memories(status, pulse, width, series))


def _memories(status: DeskStatus, pulse: Pulse, width: int, series: Series) -> Line:
    """The second line; curves, then the context's bar, make room so that it ends with what the machine has."""
    layers = _offload(status.model.offload, pulse.gauges) if status.model else ()
    lines = [
        _flowing((_context(pulse, bar), *layers, *_process(pulse.gauges, curves), *_machine(status.gauges)), width)
        for bar, curves in ((12, series), (12, {}), (4, {}))
    ]
    return next((whole for whole, *rest in lines if not rest), lines[-1][0])


def _unloaded(status: DeskStatus, width: int, *, whole: bool) -> Content:
    """What the machine has; what is wrong with the engine stands before it where there is one line only."""
    machine = _machine(status.gauges)
    why: Line = ("✗ " + status.engine, Tone.BAD) if status.engine else ()
    if width >= ROOMY:
        return content(_fitting(machine, width), "\n", why or ("◦ " + tr("no model loaded: l loads one"), Tone.DIM))
    hint: Line = ("◦ " + tr("l loads a model"), Tone.DIM)
    lines = _flowing((why, *machine) if why else (*machine, hint), width, "  ")
    return Content("\n").join(content(line) for line in (lines if whole else lines[:1]))


def _served(status: DeskStatus, pulse: Pulse | None, width: int) -> Content:
    """Speeds as they arrive here and as the server counts them; what it doesn't tell is said, not drawn."""
    where: Line = (("⌁ ", Tone.ACCENT), status.reach)
    untold: Line = (tr("a server's memory and processor aren't told"), Tone.DIM)
    if pulse is None:
        speeds: tuple[Line, ...] = ((tr("nothing asked yet"), Tone.DIM),)
    else:
        rate = pulse.generation.decode_tps if pulse.generation else None
        arrival = _figure(tr("arrives"), rate, "{:,.1f} t/s", None)
        speeds = (*_speed(pulse, {})[:3], arrival, _context(pulse, 4))
    if width < ROOMY:
        return content(_fitting((*speeds, where), width, "  "))
    return content(_fitting((*speeds, where), width), "\n", _fitting((*_machine(status.gauges)[:1], untold), width))


def _fitting(parts: Iterable[Line], width: int, gap: str = GAP) -> Line:
    """The parts beside each other, as many as there is room for."""
    return next(iter(_flowing(parts, width, gap)), ())


def _flowing(parts: Iterable[Line], width: int, gap: str = GAP) -> list[Line]:
    """All parts, in lines of at most ``width`` cells."""
    lines: list[tuple[Line, ...]] = []
    for part in parts:
        if lines and cell_len(plain((*lines[-1], gap, part))) <= width:
            lines[-1] += (gap, part)
        else:
            lines.append((part,))
    return [*lines]


def _speed(pulse: Pulse, series: Series) -> tuple[Line, ...]:
    """From the first token to the last, what matters most first."""
    said = pulse.generation
    reading = said is not None and said.state == "started"
    ttft = said.ttft_ms if said and not reading else None
    first: Line = _reading(said) if said and reading else _figure("TTFT", ttft, "{:,.0f} ms", series.get("ttft"))
    tpot = 1e3 / said.decode_tps if said and said.decode_tps else None
    return (
        first,
        _figure(tr("read"), prefill_rate(said), "{:,.0f} t/s", series.get("prefill")),
        _figure(tr("write"), None if reading else decode_rate(said), "{:,.1f} t/s", series.get("decode")),
        _figure("TPOT", None if reading else tpot, "{:,.1f} ms", None),
        *((_tokens(said), _reused(said)) if series else ()),
    )


def _reading(said: Generation) -> Line:
    left = seconds_left(said)
    told = f"{count(said.prefilled_tokens)}/{count(said.prompt_tokens)}"
    eta = "" if left is None else " · " + tr("{seconds} s left", seconds=f"{left:.0f}")
    return ((tr("prompt") + " ", Tone.DIM), (told + eta, Tone.ACCENT))


def _figure(name: str, value: float | None, form: str, series: tuple[str, float] | None) -> Line:
    shown: Line = NOTHING if value is None else form.format(value)
    curve: Line = (f" {series[0]}", Tone.ACCENT) if series else ""
    peak: Line = (f" ↑{form.format(series[1]).split(' ')[0]}", Tone.DIM) if series else ""
    return ((name + " ", Tone.DIM), shown, curve, peak)


def _tokens(said: Generation | None) -> Line:
    return ((tr("tokens") + " ", Tone.DIM), count(said.output_tokens) if said else NOTHING)


def _reused(said: Generation | None) -> Line:
    name: Line = (tr("prefix reused") + " ", Tone.DIM)
    if not said or not said.prompt_tokens:
        return (name, NOTHING)
    share = said.reused_tokens / said.prompt_tokens
    return (name, f"{count(said.reused_tokens)}/{count(said.prompt_tokens)} ", (f"{share:.0%}", Tone.DIM))


def _context(pulse: Pulse, cells: int) -> Line:
    full = pulse.held / pulse.context if pulse.context else 0.0
    tone = Tone.WARN if full > 0.9 else Tone.ACCENT
    return ((tr("ctx") + " ", Tone.DIM), (bar(full, cells), tone), f" {count(pulse.held)}/{count(pulse.context)}")


def _offload(found: Offload, gauges: Gauges) -> tuple[Line, ...]:
    """Layers that a GPU took of those it was asked to take, or of all where there is one that wasn't asked."""
    asked = found.asked or (found.layers if gauges.devices else 0)
    told = (f"{found.taken}/{asked}", Tone.WARN if found.reason else Tone.PLAIN)
    return (((tr("GPU layers") + " ", Tone.DIM), told),) if asked else ()


def _memory(gauges: Gauges, series: Series) -> Line:
    return (
        ("RSS ", Tone.DIM),
        size(gauges.rss),
        (f" {series['rss'][0]}", Tone.ACCENT) if "rss" in series else "",
        (f" ↑{size(gauges.rss_peak)}", Tone.DIM),
    )


def _process(gauges: Gauges, series: Series) -> Iterable[Line]:
    yield _memory(gauges, series)
    yield _figure("CPU", gauges.cpu_percent, "{:.0f} %", series.get("cpu"))
    yield from (_device(device, series.get(f"gpu{device.index}")) for device in gauges.devices)


def _device(device: DeviceMemory, series: tuple[str, float] | None) -> Line:
    """A GPU: what the process holds and held at most, what is used, of how much."""
    own: Line = NOTHING if device.process is None else size(device.process)
    curve: Line = (f" {series[0]}", Tone.ACCENT) if series else ""
    peak: Line = (f" ↑{size(int(series[1]))}", Tone.DIM) if series else ""
    used = f"{size(device.used)}/{size(device.total)}"
    return ((f"GPU{device.index} ", Tone.DIM), own, curve, peak, (" · ", Tone.DIM), used)


def _machine(gauges: Gauges) -> tuple[Line, ...]:
    share = gauges.ram_used / gauges.ram_total if gauges.ram_total else 0.0
    ram: Line = (("RAM ", Tone.DIM), (gauge(share), Tone.ACCENT), f" {size(gauges.ram_used)}/{size(gauges.ram_total)}")
    if gauges.vram_used is not None:
        return (ram, (("VRAM ", Tone.DIM), f"{size(gauges.vram_used)}/{size(gauges.vram_total or 0)}"))
    why = f" ({gauges.vram_note})" if gauges.vram_note else ""
    return (ram, (("VRAM ", Tone.DIM), NOTHING, (why, Tone.DIM)))
