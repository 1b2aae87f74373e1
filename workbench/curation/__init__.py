"""Changing what is known of documents, safely: seen before it is done, done in one go, and taken back with one key.

Only metadata is changed here. Texts, chunks and vectors are the ingest's.
"""

from workbench.curation.curator import Curator

__all__ = ["Curator"]
