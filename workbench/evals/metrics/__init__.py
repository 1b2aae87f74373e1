"""Metrics of one case, as plain functions, and the table of their names. No records, no files, no models.

Each function returns None where its metric isn't defined for the case: such a case is left out, never counted as 0.
``ranking`` judges a list of results, ``answers`` what was answered, ``operation`` time and cost; ``table`` names all.
"""

from workbench.evals.metrics.answers import (
    abstained,
    abstention_scores,
    answer_correctness,
    answer_relevance,
    citation_precision,
    citation_recall,
    context_precision,
    context_recall,
    exact_match,
    groundedness,
    normalise,
    token_f1,
)
from workbench.evals.metrics.operation import cost, cost_per_useful, percentile
from workbench.evals.metrics.ranking import (
    Held,
    average_precision,
    dcg,
    hit,
    ndcg,
    one_each,
    precision,
    recall,
    recall_ann,
    reciprocal_rank,
    retrieval_scores,
)
from workbench.evals.metrics.table import METRICS, Metric, Statistic, find_metric, metric

__all__ = [
    "METRICS",
    "Held",
    "Metric",
    "Statistic",
    "abstained",
    "abstention_scores",
    "answer_correctness",
    "answer_relevance",
    "average_precision",
    "citation_precision",
    "citation_recall",
    "context_precision",
    "context_recall",
    "cost",
    "cost_per_useful",
    "dcg",
    "exact_match",
    "find_metric",
    "groundedness",
    "hit",
    "metric",
    "ndcg",
    "normalise",
    "one_each",
    "percentile",
    "precision",
    "recall",
    "recall_ann",
    "reciprocal_rank",
    "retrieval_scores",
    "token_f1",
]
