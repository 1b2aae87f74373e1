"""One visit to a model: a fresh child process loads it, warms up, and measures what this repetition still lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from workbench.benchmarks.conditions import Watch
from workbench.benchmarks.planning import ANSWER_TOKENS, JSON_TOKENS, LOAD_TEST, PromptTest, SpeedTest, load_settings
from workbench.engine.client import ChildGenerator, load_generator
from workbench.engine.process import ended_by
from workbench.errors import BudgetError, Cancelled, EngineError
from workbench.ports import Cancel, Generator
from workbench.records.answers import Generation, Message
from workbench.records.benchmarks import Bench, Conditions, Sample
from workbench.records.models import GenerationSettings, ModelFile

SHORT: Final = 32
"""Tokens that warm up where no prompt is timed."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A model's turn: what of ``repetition`` is still to be measured.

    Attributes:
        watch: wraps the model before it answers prompts, so that these calls are counted.
    """

    bench: Bench
    model: int
    repetition: int
    file: ModelFile
    tests: Sequence[SpeedTest | PromptTest]
    load_known: bool = False
    watch: Callable[[Generator], Generator] = lambda generator: generator

    @property
    def names(self) -> tuple[str, ...]:
        """Of the samples it gives."""
        return (*(() if self.load_known else (LOAD_TEST,)), *(test.name for test in self.tests))

    def sample(
        self,
        test: str,
        value: float,
        generator: Generator,
        conditions: Conditions = Conditions(),  # noqa: B008 -- frozen
        ttft_ms: float | None = None,
    ) -> Sample:
        """What was measured, stamped."""
        return Sample(
            bench_id=self.bench.id,
            model=self.model,
            test=test,
            repetition=self.repetition,
            value=value,
            ended=datetime.now(UTC),
            conditions=conditions,
            ttft_ms=ttft_ms,
            rss=generator.gauges().rss_peak,
            memory=generator.model.memory,
        )

    def failed(self, test: str, problem: str) -> Sample:
        """Why there is no value."""
        return Sample(self.bench.id, self.model, test, self.repetition, 0.0, datetime.now(UTC), problem=problem)


def carry_out(visit: Visit, cancel: Cancel) -> Iterator[Sample]:
    """Yields the samples as they end; the child is gone afterwards.

    Raises:
        EngineError: the model can't be loaded, or its process died; what was yielded counts.
        Cancelled: at once, in the middle of a computation too.
    """
    settings = load_settings(visit.bench.plan)
    generator = load_generator(visit.file, settings, cancel=cancel)
    try:
        with ended_by(cancel, generator.close):  # a benchmark's computations don't look whether they should stop
            if not visit.load_known:
                yield visit.sample(LOAD_TEST, generator.model.load_ms, generator)
            _warm_up(visit, generator)
            for test in visit.tests:
                yield _measure(visit, test, generator)
    except EngineError:
        if cancel.is_set():
            raise Cancelled from None
        raise
    finally:
        generator.close()


def _warm_up(visit: Visit, generator: ChildGenerator) -> None:
    """As llama-bench: the whole prompt once, and one token; a short one where only prompts are asked."""
    generator.measure(visit.bench.plan.prompt or SHORT, 0)
    generator.measure(0, 1)


def _measure(visit: Visit, test: SpeedTest | PromptTest, generator: ChildGenerator) -> Sample:
    if isinstance(test, SpeedTest):
        with Watch(generator.model.pid) as watch:
            seconds = generator.measure(test.prompt, test.generate, test.depth)
        return visit.sample(test.name, test.tokens / seconds, generator, watch.conditions)
    try:
        with Watch(generator.model.pid) as watch:
            answer = answer_to(test, visit.watch(generator))
    except BudgetError as error:
        return visit.failed(test.name, f"{error.title}: {error.message}")
    if answer.state != "complete":
        return visit.failed(test.name, answer.error)
    value = float(test.shape.holds(answer.text)) if test.shape else answer.duration_ms
    return visit.sample(test.name, value, generator, watch.conditions, answer.ttft_ms)


def answer_to(test: PromptTest, generator: Generator, cancel: Cancel | None = None) -> Generation:
    """Through the model's chat template where it has one; greedy."""
    templated = generator.model.file.chat_template
    prompt = generator.render([Message("user", test.text)]) if templated else test.text
    grammar = test.shape.grammar() if test.shape and test.forced else ""
    settings = GenerationSettings(max_tokens=JSON_TOKENS if test.shape else ANSWER_TOKENS, grammar=grammar)
    *_, last = generator.generate(prompt, settings, cancel)
    return last
