"""Benchmarks: how fast the models of this machine are, and what a person feels of it.

``planning`` lays out what is measured (llama-bench's tests, prompts that people write, answers as JSON), ``visits``
measures it model by model in child processes, ``conditions`` watches the machine meanwhile, ``figures`` makes means,
intervals, ranks and flags of the samples, ``report`` a row per model, ``exports`` files; ``Benchmarks`` is what the
desk hands out. No SQL, no Textual, no native code: what is timed is timed in the engine's child.
"""

from __future__ import annotations

from workbench.benchmarks.benchmarks import Benchmarks

__all__ = ["Benchmarks"]
