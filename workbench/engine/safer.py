"""Which setting to change after a load or a process has failed: one step at a time, the mildest that may help."""

from __future__ import annotations

from dataclasses import replace

from workbench.errors import EngineError
from workbench.i18n import tr
from workbench.records.models import LoadSettings, SaferLoad

SMALLEST_CONTEXT = 512
BATCH = 128


def safer(error: EngineError, settings: LoadSettings, largest_context: int = 0) -> SaferLoad | None:
    """Settings to try again with, None when none would help.

    Args:
        settings: those that failed.
        largest_context: tokens, the most that are expected to fit; 0 when nothing is known.
    """
    match error.cause:
        case "mapping" if settings.mmap:
            return SaferLoad(replace(settings, mmap=False), tr("without memory mapping"))
        case "adapter":
            return SaferLoad(replace(settings, adapters=()), tr("without adapters"))
        case "cache" if settings.kv_type != "f16":
            return SaferLoad(replace(settings, kv_type="f16"), tr("with KV in f16"))
        case "memory" | "context":
            return _smaller(settings, largest_context)
        case "crash":
            return _plainer(settings)
    return None


def _smaller(settings: LoadSettings, largest_context: int) -> SaferLoad | None:
    """Less memory."""
    if settings.gpu_layers:
        layers = settings.gpu_layers // 2
        words = tr("with fewer layers on the GPU: {count}", count=layers) if layers else tr("on the CPU alone")
        return SaferLoad(replace(settings, gpu_layers=layers), words)
    if settings.context > SMALLEST_CONTEXT:
        context = max(SMALLEST_CONTEXT, min(settings.context // 2, largest_context or settings.context))
        return SaferLoad(replace(settings, context=context), tr("with {count} tokens of context", count=f"{context:,}"))
    if settings.batch > BATCH:
        return SaferLoad(replace(settings, batch=BATCH), tr("with batches of {count} tokens", count=BATCH))
    if settings.kv_type == "f16" and settings.flash_attention:
        return SaferLoad(replace(settings, kv_type="q8_0"), tr("with KV in q8_0"))
    return None


def _plainer(settings: LoadSettings) -> SaferLoad | None:
    """Less of what makes engines crash."""
    if settings.gpu_layers:
        return SaferLoad(replace(settings, gpu_layers=0), tr("on the CPU alone"))
    if settings.mmap:
        return SaferLoad(replace(settings, mmap=False), tr("without memory mapping"))
    if settings.flash_attention and settings.kv_type == "f16":
        return SaferLoad(replace(settings, flash_attention=False), tr("without flash attention"))
    return None
