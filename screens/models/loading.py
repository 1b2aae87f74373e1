"""A load under way: its line in the place of the gauges, and its detail in the top line."""

from __future__ import annotations

from textual.content import Content

from screens.style import Tone, bar, content
from screens.work import Job
from workbench.i18n import tr
from workbench.records.models import LoadProgress


def progress_text(progress: LoadProgress) -> Content:
    """A bar with its share and what is being done."""
    share = f"{progress.fraction * 100:3.0f} %"
    drawn = (bar(progress.fraction, 32), Tone.ACCENT)
    line = (tr("loading") + " ", drawn, f" {share}  ", (progress.message, Tone.DIM))
    return content(line, "\n", (tr("esc stops it"), Tone.DIM))


def describe(job: Job, progress: LoadProgress) -> None:
    """How far the load is, for the top line."""
    job.fraction = progress.fraction
    job.detail = f"{progress.fraction * 100:.0f} %"
