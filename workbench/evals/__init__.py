"""Evaluation: datasets, metrics and their intervals, runs case by case, failure stages, comparisons, gates, decisions.

``lab`` is what every front end holds, with a package behind it for each step: ``formats`` and ``collecting`` bring
cases in, ``gold`` and ``tasks`` say what is expected of them, ``running`` runs them, ``metrics`` and ``measuring`` make
figures of the results, ``judging``, ``deciding`` and ``reporting`` use those. Model-free scorers come first; a judged
number stands beside them, never instead. No SQL and no screen lives here.
"""
