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
ENCODINGS: Final = {
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "p50k_base": (
        "ec7223a39ce59f226a68acc30dc1af2788490e15",
        "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    ),
    "r50k_base": (
        "0ea1e91bbb3a60f729a8dc8f777fd2fc07cd8df4",
        "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    ),
}
"""By name, the rank file as tiktoken caches it: the SHA-1 of its address, and what its content must hash to.

tiktoken's others (gpt2, p50k_edit, o200k_harmony) cut plain text as one of these does: they differ in special tokens.
"""


def tiktoken_count(text: str) -> int:
    """Tokens of ``text`` in ``o200k_base``; special tokens written in the text count as plain text.

    0 when its rank file isn't in ``TIKTOKEN_CACHE_DIR``.
    """
    encoding = tiktoken_encoding(ENCODING)
    return len(encoding.encode_ordinary(text)) if encoding else 0


def tiktoken_encoding(name: str) -> tiktoken.Encoding | None:
    """One of ``ENCODINGS``; None where its rank file isn't in ``TIKTOKEN_CACHE_DIR``, or isn't whole."""
    return _encoding(os.environ.get("TIKTOKEN_CACHE_DIR", ""), name)


@cache
def _encoding(folder: str, name: str) -> tiktoken.Encoding | None:
    """None unless the file is there and whole: tiktoken downloads one that is missing or damaged."""
    file, sha256 = ENCODINGS[name]
    path = Path(folder) / file
    if not folder or not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
        return None
    import tiktoken  # heavy, and only some commands count

    return tiktoken.get_encoding(name)
