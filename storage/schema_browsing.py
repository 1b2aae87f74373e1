"""The indexes that put chunks in order; see ``storage.browsing``."""

from __future__ import annotations

from typing import Final

BROWSING: Final = """
CREATE INDEX chunk_tokens ON chunk (index_id, tokens, document_key);
CREATE INDEX chunk_length ON chunk (index_id, end - start, document_key);
CREATE INDEX chunk_language ON chunk (index_id, language, document_key);
"""
