"""What loading a model takes, as the Models screen writes it: a cell of the list, and the top of a card."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from textual.content import Content

from screens.style import Line, Tone, content, count, size
from workbench.i18n import tr
from workbench.memory.words import largest_words, trained_words
from workbench.records.models import (
    LoadSettings,
    MemoryEstimate,
    MemoryFit,
    MemoryGrid,
    ModelFile,
    Verdict,
    change,
)

BAR: Final = 14
GRID_NAME, GRID_CELL = 10, 12
SIGNS: Final[dict[Verdict, tuple[str, Tone]]] = {
    "fits": ("✓", Tone.GOOD),
    "tight": ("~", Tone.WARN),
    "no": ("✗", Tone.BAD),
    "unknown": ("?", Tone.DIM),
}


def fit_cell(file: ModelFile, fit: MemoryFit | None) -> Line:
    """ "✓ 361 MiB": the verdict's sign and what has to be free, dim because it is an estimate."""
    if file.problem:
        return ("!", Tone.BAD)
    if file.kind != "model":
        return (file.kind, Tone.DIM)
    if fit is None or fit.estimate is None:
        return SIGNS["unknown"]
    return (SIGNS[fit.verdict], (" " + size(fit.estimate.total), Tone.DIM))


def grid_lines(grid: MemoryGrid, settings: LoadSettings) -> Content:
    """Quantization × context: each cell with the verdict and what has to be free."""
    return content(*_grid(grid), ("\n\n" + tr("▸ the file · others reckoned, KV {kv}", kv=settings.kv_type), Tone.DIM))


def _grid(grid: MemoryGrid) -> Iterator[Line]:
    yield (" " * GRID_NAME + "".join(f"{count(n):>{GRID_CELL}}" for n in grid.contexts), Tone.DIM)
    for row in grid.rows:
        yield "\n"
        yield ("▸ " if row.is_file else "  ", Tone.ACCENT)
        yield (f"{row.quantization:<{GRID_NAME - 2}}", Tone.STRONG if row.is_file else Tone.PLAIN)
        for fit in row.fits:
            sign, tone = SIGNS[fit.verdict]
            told = size(fit.estimate.total) if fit.estimate else ""
            yield f"{told:>{GRID_CELL - 2}} "
            yield (sign, tone)


def memory_lines(file: ModelFile, settings: LoadSettings, fit: MemoryFit, peak: int = 0) -> Content:
    """The settings, the parts as bars, the verdict, and what was measured.

    Args:
        peak: resident bytes that a process with these settings has taken at most, 0 while none has worked.
    """
    expected = fit.estimate
    if file.kind != "model":
        adapter = tr("It is added to a model in that one's settings: s there.")
        return content((adapter if file.kind == "adapter" else tr("It is no model by itself."), Tone.DIM))
    if expected is None:
        return content((tr("Memory: the header doesn't tell."), Tone.DIM))
    return content(
        *_asked(file, settings, expected),
        *_parts(expected),
        *_verdict(file, fit, expected),
        *_measured(fit, expected, peak),
    )


def _asked(file: ModelFile, settings: LoadSettings, expected: MemoryEstimate) -> Iterator[Line]:
    yield (tr("memory at ctx") + " ", Tone.DIM)
    yield (count(expected.context), Tone.STRONG)
    yield (" +−", Tone.ACCENT)
    yield ("   KV ", Tone.DIM)
    yield (settings.kv_type, Tone.STRONG)
    yield (" v", Tone.ACCENT)
    if file.shape.window:
        yield ("\n" + tr("window") + " ", Tone.DIM)
        yield (tr("whole") if settings.whole_window else count(file.shape.window), Tone.STRONG)
        yield (" w", Tone.ACCENT)
    if told := trained_words(file, settings):
        yield ("\n~ " + told, Tone.WARN)


def _parts(expected: MemoryEstimate) -> Iterator[Line]:
    named = (
        (tr("weights"), expected.weights),
        ("KV", expected.kv_cache),
        (tr("compute"), expected.compute + expected.output),
        (tr("process"), expected.margin),
    )
    widest = max(len(name) for name, _ in named)
    for name, octets in named:
        filled = round(BAR * octets / max(1, *(part for _, part in named)))
        yield (f"\n{name.ljust(widest)} ", Tone.DIM)
        yield ("▇" * filled, Tone.ACCENT)
        yield f"{'':{BAR - filled}} {size(octets):>8}"


def _verdict(file: ModelFile, fit: MemoryFit, expected: MemoryEstimate) -> Iterator[Line]:
    verdicts = {"fits": tr("fits"), "tight": tr("tight"), "no": tr("does not fit")}
    sign, tone = SIGNS[fit.verdict]
    yield f"\n= {size(expected.total)} "
    yield (f"{sign} {verdicts[fit.verdict]}", tone)
    yield (" · " + tr("incl. {size} process", size=size(expected.margin)), Tone.DIM)
    if expected.loads:
        loads = expected.loads
        corrected = tr("corrected by {count} load" if loads == 1 else "corrected by {count} loads", count=loads)
        yield (" · " + corrected, Tone.DIM)
    yield ("\n" + tr("largest ctx that fits") + " ", Tone.DIM)
    yield largest_words(file, fit)


def _measured(fit: MemoryFit, expected: MemoryEstimate, peak: int) -> Iterator[Line]:
    """Like with like: the engine's buffers with those of an earlier load, the process with its own peak."""
    if last := fit.measured:
        yield ("\n" + tr("engine's buffers measured") + " ", Tone.DIM)
        yield f"{size(last.measured.total)} ({last.told})"
    if not expected.device:
        yield ("\n" + tr("process while it answers") + " ", Tone.DIM)
        yield size(expected.resident)
    if peak:
        yield ("\n" + tr("process at its peak") + " ", Tone.DIM)
        yield size(peak)
        if not expected.device:
            yield f" ({change(peak / expected.resident - 1)})"
