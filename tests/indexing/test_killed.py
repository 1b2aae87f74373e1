"""A build that is killed with SIGKILL goes on where it was, and embeds nothing twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.indexing.conftest import NAME, Lab

BUILD = """
import sys, time
from pathlib import Path
from storage import open_store
from tests.indexing.conftest import Lab, OtherEmbedder

class Slow(OtherEmbedder):
    def embed_passages(self, texts, cancel=None, *, urgent=False):
        for vector in super().embed_passages(texts, cancel):
            time.sleep(0.002)
            print("chunk", flush=True)
            yield vector

store = open_store(Path(sys.argv[1]))
lab = Lab(store, Path(sys.argv[2]))
lab.installed["other"] = Slow()
for step in lab.indexes.build("c", "other"):
    pass
store.close()
"""


@pytest.mark.parametrize("chunks", [1, 4])
def test_killed_at_any_chunk_the_next_build_completes_it(lab: Lab, tmp_path: Path, chunks: int) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", BUILD, str(tmp_path / "w.db"), str(lab.folder)],
        stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    with child:
        assert child.stdout is not None
        for _ in range(1 + chunks):  # the first is the probe for token vectors
            assert child.stdout.readline() == "chunk\n"
        os.kill(child.pid, signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    assert lab.statuses() == {1: "current", 2: "building"}
    left = 6 - lab.indexes.state(lab.indexes.index(2)).complete
    assert left > 0
    lab.build(embedder="other")
    assert len(lab.installed["other"].embedded) == 1 + left
    states = {state.index.id: state for state in lab.indexes.states(NAME)}
    assert states[2].whole
    assert {c.text for d in lab.store.corpus.documents(NAME) for c in lab.store.corpus.chunks(d.id, 2)} == {
        c.text for d in lab.store.corpus.documents(NAME) for c in lab.store.corpus.chunks(d.id, 1)
    }
