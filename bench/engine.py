"""The engine's child processes against the same libraries driven directly: ``python -m bench.engine``.

Interleaved, so that other work on the machine hits both sides alike; medians of the repetitions.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from bench.ingest import paragraphs
from workbench import paths
from workbench.engine.client import ChildGenerator, load_generator
from workbench.engine.embedding import open_embedder
from workbench.engine.gguf_header import read_header
from workbench.records.models import GenerationSettings, LoadSettings

REPETITIONS = 5
MODEL = paths.gguf_folder() / paths.STARTER_MODEL
EMBEDDER = paths.embedders_folder() / paths.STARTER_EMBEDDER
PROMPT = "Once upon a time, in a library by the sea,"
SETTINGS = GenerationSettings(max_tokens=128)
LONG_PROMPT = "The library opens at nine and closes at eight. " * 300

# Each reads a line of JSON, answers with seconds on a line.
RAW_LLAMA = """
import sys, time
from llama_cpp import Llama
llama = Llama(sys.argv[1], n_ctx=4096, n_batch=512, n_threads=1, n_threads_batch=1, flash_attn=True, verbose=False)
tokens = llama.tokenize(sys.argv[2].encode(), add_bos=False, special=True)
for _ in sys.stdin:
    llama.reset()
    times = []
    for _token in llama.generate(tokens, temp=0.0, top_k=1, repeat_penalty=1.0):
        times.append(time.perf_counter())
        if len(times) == 128:
            break
    print(127 / (times[-1] - times[0]), flush=True)
"""
RAW_FASTEMBED = """
import json, sys, time
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType
TextEmbedding.add_custom_model(model="m", pooling=PoolingType.MEAN, normalization=True, dim=384,
                               sources=ModelSource(url="file:"), model_file="model_int8.onnx")
model = TextEmbedding("m", specific_model_path=sys.argv[1], threads=1)
for line in sys.stdin:
    texts, batch = json.loads(line)
    began = time.perf_counter()
    list(model.embed(texts, batch_size=batch))
    print(len(texts) / (time.perf_counter() - began), flush=True)
"""


class Raw:
    """A script in a process of its own, asked for one measurement at a time."""

    def __init__(self, script: str, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", script, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def measure(self, request: object = None) -> float:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate()


def medians(**measures: Callable[[], float]) -> dict[str, float]:
    """Runs the measures in turn, after one warm-up of each."""
    for measure in measures.values():
        measure()
    runs = [{name: measure() for name, measure in measures.items()} for _ in range(REPETITIONS)]
    return {name: round(statistics.median(run[name] for run in runs), 1) for name in measures}


def loading() -> float:
    """Seconds from nothing to a loaded model."""
    began = time.perf_counter()
    load_generator(read_header(MODEL), LoadSettings()).close()
    return (time.perf_counter() - began) * 1e3


def decoding(generator: ChildGenerator) -> float:
    """Tokens per second, as the child stamps them."""
    *_, last = generator.generate(PROMPT, SETTINGS)
    assert last.output_tokens == SETTINGS.max_tokens
    return last.decode_tps or 0.0


def cancelling(generator: ChildGenerator) -> float:
    """Milliseconds from the wish to its effect, in the middle of a long prompt."""
    cancel, wished = threading.Event(), 0.0

    def wish() -> None:
        nonlocal wished
        wished = time.perf_counter()
        cancel.set()

    timer = threading.Timer(0.7, wish)
    steps = generator.generate(f"{time.time()} {LONG_PROMPT}", SETTINGS, cancel)
    next(steps)
    timer.start()
    *_, last = steps
    assert last.state == "cancelled"
    return (time.perf_counter() - wished) * 1e3


def main() -> None:
    print("load, ms:", medians(child=loading))
    generator = load_generator(read_header(MODEL), LoadSettings(threads=1))
    raw = Raw(RAW_LLAMA, str(MODEL), PROMPT)
    print("decode, tokens/s:", medians(child=lambda: decoding(generator), llama_generate=raw.measure))
    late = sorted(cancelling(generator) for _ in range(15))
    print(f"cancel in prefill, ms: median {statistics.median(late):.0f}, worst {late[-1]:.0f} of {len(late)}")
    raw.close()
    generator.close()

    passages = list(paragraphs("es").values())[:24]
    texts = ["passage: " + text for text in passages]
    embedder, fastembed = open_embedder(EMBEDDER), Raw(RAW_FASTEMBED, str(EMBEDDER))

    def child() -> float:
        began = time.perf_counter()
        list(embedder.embed_passages(passages))
        return len(passages) / (time.perf_counter() - began)

    batches = {f"fastembed_batch_{n}": (lambda n=n: fastembed.measure([texts, n])) for n in (1, 2, 4)}
    print("embed, paragraphs/s:", medians(child=child, **batches))
    fastembed.close()
    embedder.close()


if __name__ == "__main__":
    main()
