"""What a person is told of a context's bounds: what fits, and what the model was trained for."""

from __future__ import annotations

from workbench.i18n import tr
from workbench.records.models import LoadSettings, MemoryFit, MemoryPart, ModelFile


def largest_words(file: ModelFile, fit: MemoryFit) -> str:
    """ "12,288", or, where memory isn't what bounds it, "8,192 (trained limit)"."""
    if file.context and fit.largest_context >= file.context:
        return tr("{count} (trained limit)", count=f"{fit.largest_context:,}")
    return f"{fit.largest_context:,}"


def trained_words(file: ModelFile, settings: LoadSettings) -> str:
    """ "trained for 8,192 tokens" where the settings ask for more, else ""."""
    if not 0 < file.context < settings.context:
        return ""
    return tr("trained for {count} tokens", count=f"{file.context:,}")


def part_words(part: MemoryPart) -> str:
    """The name of a part of the memory."""
    return {"weights": tr("weights"), "kv_cache": "KV", "compute": tr("compute"), "output": tr("output")}[part]
