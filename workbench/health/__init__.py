"""The health of a collection: what is wrong with its documents, chunks, vectors and sources, and what mends it.

One function per check, each from light rows to a ``HealthCheck``; the doctor runs them, and repairs what needs no
decision. SQL is the file's business, re-ingesting the ingester's, and asking a person the front ends'.
"""

from workbench.health.doctor import Doctor

__all__ = ["Doctor"]
