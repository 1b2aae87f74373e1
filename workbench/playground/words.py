"""How a reply goes, in words: the same on the screen and on the command line."""

from __future__ import annotations

from workbench.i18n import tr
from workbench.records.answers import Generation


def state_words(generation: Generation) -> str:
    """Its state, and why it ended where that is worth a word."""
    states = {
        "started": tr("started"),
        "partial": tr("partial"),
        "complete": tr("complete"),
        "cancelled": tr("cancelled"),
        "error": tr("error"),
    }
    reasons = {"length": tr("at the token limit"), "stop": tr("at a stop string")}
    ended = reasons.get(generation.stop_reason, "") if generation.state == "complete" else ""
    return f"{states[generation.state]} {ended}".rstrip()


def silence_words() -> str:
    """For an answer that ended before it began: what it may mean."""
    told = tr("The model wrote nothing.")
    hint = tr("If it does so again, compare the file's SHA-256 with its source: workbench models hash --verify")
    return f"{told} {hint}"


def progress_words(generation: Generation) -> str:
    """How far it is: tokens of the prompt that are read, with the seconds left, or tokens that are written."""
    if generation.output_tokens or generation.state != "started":
        return tr("{count} tokens", count=f"{generation.output_tokens:,}")
    left = seconds_left(generation)
    read, of = f"{generation.prefilled_tokens:,}", f"{generation.prompt_tokens:,}"
    told = tr("reads the prompt: {read}/{all}", read=read, all=of)
    return told if left is None else told + " · " + tr("{seconds} s left", seconds=f"{left:.0f}")


def seconds_left(generation: Generation) -> float | None:
    """Until the prompt is read, at the rate so far; None where there is no rate yet, or nothing left."""
    left = generation.prompt_tokens - generation.prefilled_tokens
    return left / generation.prefill_tps if left > 0 and generation.prefill_tps else None


def figure_words(generation: Generation) -> str:
    """Tokens, what of the prompt was reused, times; the rates by the engine's own clocks."""
    times, near = generation.engine, "≈ " if generation.estimated else ""
    facts = (
        near + tr("{count} tokens", count=f"{generation.output_tokens:,}"),
        f"TTFT {generation.ttft_ms:,.0f} ms" if generation.ttft_ms is not None else "",
        tr("writes {rate} t/s", rate=f"{times.decode_tps:.1f}") if times and times.decode_tps else "",
        tr("reads {rate} t/s", rate=f"{times.prefill_tps:.0f}") if times and times.prefill_tps else "",
        tr(
            "prompt {count}, {reused} reused",
            count=f"{near}{generation.prompt_tokens:,}",
            reused=f"{generation.reused_tokens:,}",
        ),
    )
    return " · ".join(filter(None, facts))
