"""Token counts by tiktoken: an estimate for hosted models, beside the exact count of a model's own tokenizer."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import tiktoken

ENCODING: Final = "o200k_base"
# The rank file as tiktoken caches it: named by the SHA-1 of its address, and what its content must hash to.
_FILE: Final = "fb374d419588a4632f3f557e76b4b70aebbca790"
_SHA256: Final = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"


def tiktoken_count(text: str) -> int:
    """Tokens of ``text`` in ``o200k_base``; special tokens written in the text count as plain text.

    0 when its rank file isn't in ``TIKTOKEN_CACHE_DIR``.
    """
    encoding = _encoding(os.environ.get("TIKTOKEN_CACHE_DIR", ""))
    return len(encoding.encode_ordinary(text)) if encoding else 0


@cache
def _encoding(folder: str) -> tiktoken.Encoding | None:
    """None unless the file is there and whole: tiktoken downloads one that is missing or damaged."""
    path = Path(folder) / _FILE
    if not folder or not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != _SHA256:
        return None
    import tiktoken  # heavy, and only some commands count

    return tiktoken.get_encoding(ENCODING)
