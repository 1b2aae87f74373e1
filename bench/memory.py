"""What loads take against what was foreseen for them: ``python -m bench.memory MODEL.gguf…``.

Every model at 2k, 8k and 32k tokens of context and each type of the KV cache, in a fresh process that reads a prompt
of more than a micro-batch. Prints a table in Markdown; sizes in MiB.

- *reserved*: the engine's buffers, foreseen and as its log tells them.
- *resident*: the highest resident size of the process, foreseen and as the kernel counts it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final, get_args

from workbench.engine.client import load_generator
from workbench.engine.gguf_header import read_header
from workbench.memory.estimate import estimate
from workbench.records.models import GenerationSettings, KvType, LoadSettings, ModelFile

CONTEXTS: Final = (2048, 8192, 32_768)
PROMPT: Final = "The keeper wrote the hour, the wind and the light into the book. " * 50
ANSWER: Final = GenerationSettings(max_tokens=8)


def against(foreseen: int, measured: int) -> str:
    """Both in MiB, and how far the first is off."""
    return f"{foreseen / 2**20:.0f} / {measured / 2**20:.0f} ({foreseen / measured - 1:+.1%})"


def line(file: ModelFile, settings: LoadSettings) -> str:
    """A row of the table."""
    expected = estimate(file, settings)
    assert expected
    generator = load_generator(file, settings)
    try:
        for _ in generator.generate(PROMPT, ANSWER):
            pass
        reserved, resident = generator.model.memory.total, generator.gauges().rss_peak
    finally:
        generator.close()
    told = (file.name, f"{settings.context:,}", settings.kv_type, against(expected.buffers, reserved))
    return f"| {' | '.join(told)} | {against(expected.resident, resident)} |"


def main(models: list[str]) -> None:
    """The table, a row as soon as it is measured."""
    print("| model | context | KV | reserved | resident |\n|---|---|---|---|---|")
    for model in models:
        file = read_header(Path(model))
        for context in CONTEXTS:
            for kv_type in get_args(KvType):
                print(line(file, LoadSettings(context=context, kv_type=kv_type)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
