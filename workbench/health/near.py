"""Near-duplicates among texts: MinHash signatures of word shingles, bands to find pairs, and the true overlap of each.

Sources: Broder, "On the resemblance and containment of documents" (1997), for shingles and MinHash; Leskovec, Rajaraman
& Ullman, "Mining of Massive Datasets", chapter 3, for bands.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt

from workbench.errors import Cancelled
from workbench.ports import Cancel
from workbench.text.words import words

NEAR: Final = 0.8
"""Jaccard similarity of the shingles from which on two texts are near-duplicates."""

_SHINGLE: Final = 3  # words
_BANDS, _ROWS = 16, 4  # two texts of similarity s meet in some band with 1 - (1 - s⁴)¹⁶: .9998 at .8, .06 at .25
_PRIME: Final = np.uint64((1 << 31) - 1)
_LARGEST: Final = 200
"""Texts of one band's bucket that are compared pair by pair; a larger bucket is compared with its first text only."""

_RANDOM: Final = np.random.default_rng(20_001)
_FACTORS: Final = _RANDOM.integers(1, int(_PRIME), _BANDS * _ROWS, dtype=np.uint64)
_OFFSETS: Final = _RANDOM.integers(0, int(_PRIME), _BANDS * _ROWS, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class NearGroup:
    """Texts of which each is a near-duplicate of another one; ``least`` is the similarity of the weakest link."""

    ids: tuple[str, ...]
    least: float


def near_duplicates(
    texts: Iterable[tuple[str, str]], same: Callable[[str, str], bool], cancel: Cancel | None = None
) -> tuple[NearGroup, ...]:
    """Groups of near-duplicates among (id, text).

    Args:
        same: pairs that don't count (copies that are told elsewhere, neighbours that share an overlap by design).

    Raises:
        Cancelled: ``cancel`` was set.
    """
    shingles: dict[str, npt.NDArray[np.uint64]] = {}
    buckets: defaultdict[tuple[int, bytes], list[str]] = defaultdict(list)
    for name, text in texts:
        if cancel is not None and cancel.is_set():
            raise Cancelled
        found = _shingles(text)
        if not found.size:
            continue
        shingles[name] = found
        signature = _signature(found).reshape(_BANDS, _ROWS)
        for band, row in enumerate(signature):
            buckets[band, row.tobytes()].append(name)
    links: dict[tuple[str, str], float] = {}
    for pair in _pairs(buckets.values()):
        if pair not in links and not same(*pair):
            links[pair] = _jaccard(shingles[pair[0]], shingles[pair[1]])
    return _groups({pair: value for pair, value in links.items() if value >= NEAR}, list(shingles))


def _shingles(text: str) -> npt.NDArray[np.uint64]:
    """Hashes of the text's word triples, each once; of the whole of it when it has fewer words."""
    found = words(text.casefold())
    if len(found) < _SHINGLE:
        return np.array([], np.uint64)
    runs = {zlib.crc32(" ".join(found[i : i + _SHINGLE]).encode()) for i in range(len(found) - _SHINGLE + 1)}
    return np.array(sorted(runs), np.uint64)


def _signature(shingles: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    hashed = (shingles[:, None] % _PRIME * _FACTORS + _OFFSETS) % _PRIME
    return np.asarray(hashed.min(axis=0), np.uint64)


def _pairs(buckets: Iterable[list[str]]) -> Iterator[tuple[str, str]]:
    for bucket in buckets:
        if len(bucket) <= _LARGEST:
            yield from combinations(bucket, 2)
        else:
            yield from ((bucket[0], other) for other in bucket[1:])


def _jaccard(a: npt.NDArray[np.uint64], b: npt.NDArray[np.uint64]) -> float:
    shared = np.intersect1d(a, b, assume_unique=True).size
    return float(shared / (a.size + b.size - shared))


def _groups(links: dict[tuple[str, str], float], order: list[str]) -> tuple[NearGroup, ...]:
    """Connected components, their members and the groups themselves in the order the texts came."""
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while leader.setdefault(name, name) != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    for a, b in links:
        leader[find(b)] = find(a)
    members: defaultdict[str, list[str]] = defaultdict(list)
    for name in order:
        if name in leader:
            members[find(name)].append(name)
    least: dict[str, float] = {}
    for (a, _), value in links.items():
        least[find(a)] = min(value, least.get(find(a), 1.0))
    return tuple(NearGroup(tuple(names), least[top]) for top, names in members.items())
