"""Evaluation: datasets, metrics and their intervals, runs case by case, failure stages, comparisons, gates, decisions.

Model-free scorers come first; a judged number stands beside them, never instead. No SQL and no screen lives here.
"""
