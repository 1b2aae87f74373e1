"""Quantization ladders: one model in several quantizations, what each saves and what it loses.

``kinds`` says what can be made, ``planning`` lays out the rungs, ``making`` writes their files, ``texts`` cuts the
passages they are scored on and ``scoring`` has that done; ``stages`` does it all in order, resumable, with the benches
and evaluations of their own packages. ``figures`` makes intervals, ``report`` rows and the Pareto front, ``deciding``
the decision, ``exports`` files; ``Ladders`` is what the desk hands out. No SQL, no Textual, no native code: quantizing
and scoring happen in the engine's child.
"""

from __future__ import annotations

from workbench.ladders.ladders import Ladders

__all__ = ["Ladders"]
