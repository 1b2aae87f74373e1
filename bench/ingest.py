"""Ingest against the raw embedder: how much the workbench adds to the time that embedding costs anyway.

The same texts (XQuAD's paragraphs, one document each) go once through ``workbench ingest`` into a new file, and once
through the raw embedder in a new process, model load included. What token vectors add tells the recipe
structure:token_vectors=none. Run: python -m bench.ingest [LANGUAGE] [REPETITIONS] [RECIPE]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from workbench import paths

DATA = Path(os.environ.get("WORKBENCH_DATA", Path(__file__).parents[2] / "shared" / "data"))

RAW = """
import json, sys
from pathlib import Path
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType
folder, texts = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text("utf-8"))
about = json.loads((folder / "embedder.json").read_text("utf-8"))
TextEmbedding.add_custom_model(model="bench", pooling=PoolingType.MEAN, normalization=True,
    sources=ModelSource(hf="bench"), dim=about["dimension"], model_file=about["model_file"])
model = TextEmbedding("bench", specific_model_path=str(folder), threads=int(sys.argv[3]))
print(sum(1 for _ in model.embed([about["passage_prefix"] + t for t in texts], batch_size=1)))
"""


def paragraphs(language: str) -> dict[str, str]:
    """XQuAD's 240 paragraphs by document name."""
    articles = json.loads((DATA / "xquad" / f"xquad.{language}.json").read_text("utf-8"))["data"]
    return {
        f"{number:02}-{place:02}.txt": paragraph["context"]
        for number, article in enumerate(articles)
        for place, paragraph in enumerate(article["paragraphs"])
    }


def timed(command: list[str]) -> tuple[float, str]:
    """Wall seconds and stdout of a command that must succeed."""
    start = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return time.perf_counter() - start, done.stdout


def chunk_texts(db: Path) -> list[str]:
    """What the workbench embedded, in order."""
    from storage import open_store

    store = open_store(db)
    try:
        return [c.indexed_text for d in store.corpus.documents("bench") for c in store.corpus.chunks(d.id)]
    finally:
        store.close()


def main() -> None:
    """Prints one line per repetition, and the ratio of the best times."""
    paths.go_offline()
    language = sys.argv[1] if len(sys.argv) > 1 else "en"
    repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    recipe = sys.argv[3] if len(sys.argv) > 3 else "structure"
    threads = max(1, (os.cpu_count() or 2) - 1)
    best = {"ingest": float("inf"), "raw": float("inf")}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "documents")
        folder.mkdir()
        for name, text in paragraphs(language).items():
            folder.joinpath(name).write_text(text, "utf-8")
        for repetition in range(repetitions):
            db = Path(scratch, f"{repetition}.db")
            command = [sys.executable, "-m", "workbench", "--db", str(db), "ingest", str(folder), "-c", "bench"]
            seconds, _ = timed([*command, "--recipe", recipe])
            best["ingest"] = min(best["ingest"], seconds)
            texts = chunk_texts(db)
            list_file = Path(scratch, "texts.json")
            list_file.write_text(json.dumps(texts), "utf-8")
            embedder = paths.embedders_folder() / paths.STARTER_EMBEDDER
            raw, _ = timed([sys.executable, "-c", RAW, str(embedder), str(list_file), str(threads)])
            best["raw"] = min(best["raw"], raw)
            print(f"{language} {len(texts)} chunks, {threads} thread: ingest {seconds:.1f} s, raw embedder {raw:.1f} s")
    print(f"ratio of the best: {best['ingest'] / best['raw']:.2f}")


if __name__ == "__main__":
    main()
