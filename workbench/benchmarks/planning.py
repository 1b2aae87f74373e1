"""What a bench measures: tests, prompts and answers as JSON, and which of them each visit to a model takes."""

from __future__ import annotations

import random
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Final

from workbench.benchmarks.shapes import Shape
from workbench.demo import demo_folder
from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.records.benchmarks import BenchPlan
from workbench.records.models import LoadSettings

ANSWER_TOKENS: Final = 64
JSON_TOKENS: Final = 128
_SEED: Final = 20_260_525
FELT_CONTEXT: Final = 2048
"""Tokens that the longest prompt and its answer need, with room for tokenizers that need more."""
LOAD_TEST: Final = "load"


@dataclass(frozen=True, slots=True)
class SpeedTest:
    """Tokens evaluated at once (``prompt``) or one by one (``generate``), with ``depth`` tokens before them."""

    name: str
    prompt: int
    generate: int
    depth: int

    @property
    def tokens(self) -> int:
        """How many are timed."""
        return self.prompt + self.generate


@dataclass(frozen=True, slots=True)
class PromptTest:
    """A prompt to be answered freely; with a ``shape``, as JSON, the grammar forcing it when ``forced``."""

    name: str
    text: str
    shape: Shape | None = None
    forced: bool = False


def check_plan(plan: BenchPlan) -> None:
    """Raises UsageError when it measures nothing or can't be carried out."""
    numbers = (plan.prompt, plan.generate, plan.cooldown_s, *plan.depths)
    if min(numbers) < 0 or plan.repetitions < 1 or not plan.depths or len(set(plan.depths)) < len(plan.depths):
        raise UsageError(
            tr("Bad plan"),
            tr("Tokens, depths and pauses start at 0, repetitions at 1, and each depth is named once."),
            tr("Correct the setting."),
        )
    if not (plan.prompt or plan.generate or plan.felt):
        raise UsageError(
            tr("Bad plan"), tr("It measures nothing."), tr("Give prompt or generated tokens, or ask prompts.")
        )


def speed_tests(plan: BenchPlan) -> tuple[SpeedTest, ...]:
    """llama-bench's tests under its names: "pp512", "tg128@d1024"."""
    tests = []
    for depth in plan.depths:
        after = f"@d{depth}" if depth else ""
        if plan.prompt:
            tests.append(SpeedTest(f"pp{plan.prompt}{after}", plan.prompt, 0, depth))
        if plan.generate:
            tests.append(SpeedTest(f"tg{plan.generate}{after}", 0, plan.generate, depth))
    return tuple(tests)


@cache
def prompt_tests() -> tuple[PromptTest, ...]:
    """Every prompt, and every JSON task with the grammar and without it, in one shuffled order."""
    bundled = tomllib.loads((files(__package__) / "prompts.toml").read_text("utf-8"))
    tests = [PromptTest(f"prompt/{p['name']}", _with_document(p)) for p in bundled["prompt"]]
    for task in bundled["json"]:
        shape = Shape(tuple((name, kind) for name, kind in task["fields"]))
        asked = f"{task['text']}\n\nAnswer with one JSON object for this schema and nothing else:\n{shape.schema()}"
        tests += [
            PromptTest(f"json/{task['name']}", asked, shape, forced=True),
            PromptTest(f"free/{task['name']}", asked, shape),
        ]
    random.Random(_SEED).shuffle(tests)  # noqa: S311 -- else each visit would get one language, or one way to ask
    return tuple(tests)


def _with_document(prompt: dict[str, str]) -> str:
    document = prompt.get("document")
    before = (demo_folder() / document).read_text("utf-8") + "\n\n" if document else ""
    return before + prompt["text"].strip()


def visit_tests(plan: BenchPlan, repetition: int) -> tuple[SpeedTest | PromptTest, ...]:
    """What one visit measures: every speed test, and of the prompts every n-th, so that n visits ask each once."""
    prompts = prompt_tests()[repetition :: plan.repetitions] if plan.felt else ()
    return (*speed_tests(plan), *prompts)


def samples_of(plan: BenchPlan) -> int:
    """How many samples a model gives, its loads included."""
    return sum(1 + len(visit_tests(plan, n)) for n in range(plan.repetitions))


def load_settings(plan: BenchPlan) -> LoadSettings:
    """The plan's, with a context that holds every test."""
    needed = max(plan.depths) + max(plan.prompt, plan.generate)
    return replace(plan.load, context=max(plan.load.context, needed, FELT_CONTEXT if plan.felt else 0))
