"""How quick the lenses are on a file of many chunks, with many rankings stored.

Run: python -m bench.lenses [--chunks 100000] [--runs 20]
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.large_file import COLLECTION, build
from storage import open_store
from workbench.lenses import Lenses
from workbench.ports import Store
from workbench.records.answers import Manifest
from workbench.records.evals import CaseResult, Ranked, RunConfig

CASES, DEPTH, REPEATS = 1190, 50, 7
QUESTION = "What is the capital of the city that the university lies in?"


def store_rankings(store: Store, runs: int) -> None:
    """Runs of ``CASES`` cases whose rankings favour the first chunks, as hubs would."""
    rng = random.Random(1)
    ids = [chunk.id for document in store.corpus.documents(COLLECTION) for chunk in store.corpus.chunks(document.id)]
    manifest = Manifest("", COLLECTION, 1, 1, "", "", "", "", "")
    for _ in range(runs):
        run = store.runs.create(RunConfig("bench"), "h", manifest, CASES)
        for case in range(CASES):
            places = dict.fromkeys(min(int(rng.paretovariate(0.5)), len(ids) - 1) for _ in range(3))
            places |= dict.fromkeys(rng.sample(range(len(ids)), DEPTH - len(places)))
            ranked = tuple(Ranked(ids[place], "", 0, 1, rank) for rank, place in enumerate(places, 1))
            store.runs.put_result(CaseResult(run.id, f"case {case}", case, True, ranked=ranked))


def measure(name: str, call: Callable[[], object], repeats: int = REPEATS) -> None:
    """Prints the first call and the median of the others, in milliseconds."""
    taken = []
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        taken.append(1000 * (time.perf_counter() - began))
    print(f"{name:<44} first {taken[0]:>7,.0f}   then {statistics.median(taken[1:] or taken):>7,.0f} ms", flush=True)


def main() -> None:
    """Builds, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--file", type=Path, help="one that bench.large_file made, to be copied")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    path = folder / "large.db"
    try:
        if asked.file:
            shutil.copy(asked.file, path)
        build(path, asked.chunks)
        store = open_store(path)
        if not store.runs.runs():
            store_rankings(store, asked.runs)
        look(store)
        store.close()
    finally:
        shutil.rmtree(folder)


def look(store: Store) -> None:
    """Every lens, on chunks drawn from the whole collection."""
    lenses, rng = Lenses(store, lambda _index: None, lambda: None), random.Random(2)
    documents = store.corpus.documents(COLLECTION)
    some = [rng.choice(store.corpus.chunks(rng.choice(documents).id)) for _ in range(REPEATS)]
    turn = iter(some * 10)
    measure("a chunk among its neighbours", lambda: lenses.around(next(turn)))
    measure("its words, and a question's", lambda: lenses.words(next(turn), QUESTION))
    measure("who found it", lambda: lenses.usage(next(turn)))
    measure("the 20 nearest, out of the file", lambda: lenses.like(next(turn)))
    index = store.corpus.current_index(COLLECTION)
    assert index
    store.search.keep(index, 1 << 30)
    measure("the 20 nearest, out of memory", lambda: lenses.like(next(turn)))
    measure("hubs and what was never found", lambda: lenses.exposure(COLLECTION), 3)
    fresh = Lenses(store, lambda _index: None, lambda: None)
    measure("all cuts of the collection looked at, again", lambda: list(fresh.flags(COLLECTION)), 3)


if __name__ == "__main__":
    main()
