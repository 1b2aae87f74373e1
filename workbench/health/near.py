"""Near-duplicates among texts: MinHash signatures of word shingles, bands to find pairs, and the true overlap of each.

Sources: Broder, "On the resemblance and containment of documents" (1997), for shingles and MinHash; Leskovec, Rajaraman
& Ullman, "Mining of Massive Datasets", chapter 3, for bands.
"""

from __future__ import annotations

import zlib
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
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
_MIX: Final = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5], np.uint64)
"""Odd numbers that make one number of a band's rows; two bands that meet by chance are told apart by their overlap."""

Shingles = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class NearGroup:
    """Texts of which each is a near-duplicate of another one; ``least`` is the similarity of the weakest link."""

    ids: tuple[str, ...]
    least: float


def near_duplicates(
    texts: Iterable[tuple[str, str]], same: Callable[[str, str], bool], cancel: Cancel | None = None
) -> tuple[NearGroup, ...]:
    """Groups of near-duplicates among (id, text), for which 4 bytes a word and 128 a text are kept.

    Args:
        same: pairs that don't count (copies that are told elsewhere, neighbours that share an overlap by design).

    Raises:
        Cancelled: ``cancel`` was set.
    """
    names: list[str] = []
    ends, runs, bands = array("q", [0]), array("I"), array("Q")  # the shingles of text n end at ends[n + 1]
    for name, text in texts:
        if cancel is not None and cancel.is_set():
            raise Cancelled
        found = _shingles(text)
        if found.size:
            names.append(name)
            runs.frombytes(found.tobytes())
            ends.append(len(runs))
            bands.frombytes(_bands(found).tobytes())

    def shingles(number: int) -> Shingles:
        return np.frombuffer(runs, np.uint32, ends[number + 1] - ends[number], ends[number] * runs.itemsize)

    links: dict[tuple[int, int], float] = {}
    for band in np.frombuffer(bands, np.uint64).reshape(-1, _BANDS).T:
        for one, other in _pairs(band):
            if (one, other) not in links and not same(names[one], names[other]):
                links[one, other] = _jaccard(shingles(one), shingles(other))
    return _groups({pair: value for pair, value in links.items() if value >= NEAR}, names)


def _shingles(text: str) -> Shingles:
    """Hashes of the text's word triples, each once and in order; none when it has fewer words."""
    found = words(text.casefold())
    runs = {zlib.crc32(" ".join(found[i : i + _SHINGLE]).encode()) for i in range(len(found) - _SHINGLE + 1)}
    return np.array(sorted(runs), np.uint32)


def _bands(shingles: Shingles) -> npt.NDArray[np.uint64]:
    """A number for each band of the MinHash signature: where two texts' are equal, so are the band's rows."""
    hashed = (shingles[:, None].astype(np.uint64) % _PRIME * _FACTORS + _OFFSETS) % _PRIME
    return np.asarray((hashed.min(axis=0).reshape(_BANDS, _ROWS) * _MIX).sum(axis=1), np.uint64)


def _pairs(band: npt.NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    """Pairs of texts whose numbers are equal in this band, the earlier one first."""
    order = np.argsort(band, kind="stable")
    edges = np.concatenate(([0], np.flatnonzero(np.diff(band[order])) + 1, [len(band)]))
    for place in np.flatnonzero(np.diff(edges) > 1):
        bucket = order[edges[place] : edges[place + 1]].tolist()
        if len(bucket) <= _LARGEST:
            yield from combinations(bucket, 2)
        else:
            yield from ((bucket[0], other) for other in bucket[1:])


def _jaccard(a: Shingles, b: Shingles) -> float:
    shared = np.intersect1d(a, b, assume_unique=True).size
    return float(shared / (a.size + b.size - shared))


def _groups(links: Mapping[tuple[int, int], float], names: list[str]) -> tuple[NearGroup, ...]:
    """Connected components, their members and the groups themselves in the order the texts came."""
    leader: dict[int, int] = {}

    def find(number: int) -> int:
        while leader.setdefault(number, number) != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    for a, b in links:
        leader[find(b)] = find(a)
    members: defaultdict[int, list[str]] = defaultdict(list)
    for number in sorted(leader):
        members[find(number)].append(names[number])
    least: dict[int, float] = {}
    for (a, _), value in links.items():
        least[find(a)] = min(value, least.get(find(a), 1.0))
    return tuple(NearGroup(tuple(ids), least[top]) for top, ids in members.items())
