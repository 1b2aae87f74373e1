"""A visit to a model on a server: the prompts that people write, as they arrive here.

llama-bench's tests evaluate bare tokens with nothing in the cache, and a load has a beginning: no server offers either,
so those say why they have no value.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.benchmarks.planning import LOAD_TEST, PromptTest
from workbench.benchmarks.visits import Visit, answer_to
from workbench.errors import BudgetError, Cancelled
from workbench.i18n import tr
from workbench.ports import Cancel, Generator
from workbench.records.answers import Generation
from workbench.records.benchmarks import Sample


def is_served(path: str) -> bool:
    """It names a server's model, URL#NAME, and no file."""
    return "://" in path


def carry_out_served(visit: Visit, generator: Generator, cancel: Cancel) -> Iterator[Sample]:
    """Yields the samples as they end; the first prompt is asked once before, as a model may have to be loaded.

    Raises:
        EngineError: the server failed; what was yielded counts.
        Cancelled: ``cancel`` was set.
    """
    why = tr("a server loads when it likes and evaluates no bare tokens: only prompts are measured")
    if not visit.load_known:
        yield visit.failed(LOAD_TEST, why)
    warm = False
    for test in visit.tests:
        if not isinstance(test, PromptTest):
            yield visit.failed(test.name, why)
            continue
        if test.forced and not generator.grammars:
            yield visit.failed(test.name, tr("the server takes no grammar"))
            continue
        try:
            if not warm:
                _answered(test, generator, cancel)
                warm = True
            said = _answered(test, visit.watch(generator), cancel)
        except BudgetError as error:
            yield visit.failed(test.name, f"{error.title}: {error.message}")
            continue
        value = float(test.shape.holds(said.text)) if test.shape else said.duration_ms
        yield visit.sample(test.name, value, generator, ttft_ms=said.ttft_ms)


def _answered(test: PromptTest, generator: Generator, cancel: Cancel) -> Generation:
    said = answer_to(test, generator, cancel)
    if cancel.is_set():
        raise Cancelled
    return said
