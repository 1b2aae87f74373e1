"""What an import brings along. Asked in a fresh process: a static graph can't prove that a heavy import is deferred."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.data import shared

NATIVE = ("llama_cpp", "onnxruntime", "fastembed", "onnx", "tokenizers", "tiktoken")
HEAVY = (*NATIVE, "docx", "pypdfium2", "gguf", "huggingface_hub")
DRIVERS = ("sqlite3", "pysqlite3", "sqlean", "sqlite_vec", "sqlite_utils")
# Only child processes import these; llama_cpp brings sqlite3 along for a cache that nobody here uses.
CHILDREN = (
    *(f".engine.{name}" for name in ("comparing", "ladder", "quantizing", "onnx", "onnx_pairs", "llama")),
    *(f".engine.{name}" for name in ("gguf_embedder", "use")),
    *(f".engine.llama_{name}" for name in ("model", "pairs", "sampler", "timing")),
    ".starter.e5_graph",
)
EVERY_MODULE_OF = """
import importlib, pkgutil, {package} as package
for module in pkgutil.walk_packages(package.__path__, "{package}."):
    if not module.name.endswith({left_out!r}):
        importlib.import_module(module.name)
"""


def _brought_along(code: str, suspects: tuple[str, ...]) -> list[str]:
    ask = f"{code}\nimport sys\nprint(*[name for name in {suspects!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("module", ["workbench.desk", "workbench.__main__", "workbench.cli", "screens.app", "storage"])
def test_the_first_paint_waits_for_no_heavy_import(module: str) -> None:
    assert _brought_along(f"import {module}", HEAVY) == []


@pytest.mark.parametrize("module", ["workbench.desk", "workbench.cli"])
def test_the_command_line_needs_no_screen(module: str) -> None:
    assert _brought_along(f"import {module}", ("textual", "screens", "themes")) == []


def test_no_module_of_workbench_touches_a_terminal_a_database_or_native_code() -> None:
    code = EVERY_MODULE_OF.format(package="workbench", left_out=("__main__", *CHILDREN))
    assert _brought_along(code, (*DRIVERS, *NATIVE, "textual", "storage", "screens", "themes")) == []


def test_no_module_of_screens_touches_a_database_or_native_code() -> None:
    code = EVERY_MODULE_OF.format(package="screens", left_out=())
    assert _brought_along(code, (*DRIVERS, "storage", *NATIVE)) == []


INGEST_AND_ASK = """
from pathlib import Path
from workbench.__main__ import open_desk
from workbench.records.corpus import IngestRequest

desk = open_desk(Path({file!r}))
*_, last = desk.ingest(IngestRequest(({folder!r},), "c"))
assert (last.done, last.chunks_done > 1) == (4, True)
*_, trace = desk.ask("When does the office open?")
assert trace.span("context").output.ledger.evidence > 0
desk.close()
"""


@pytest.mark.model
def test_neither_ingest_nor_a_question_loads_a_parser_or_a_tokenizer(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(shared("pdf", "google-doc-document.pdf").read_bytes())
    (folder / "b.html").write_text("<h1>Hours</h1><p>The office opens at nine.</p>")
    (folder / "c.md").write_text("# Rules\n\nThe office is closed in August.")
    (folder / "d.txt").write_text("The office has a garden.")
    code = INGEST_AND_ASK.format(file=str(tmp_path / "w.db"), folder=str(folder))
    assert _brought_along(code, (*HEAVY, "selectolax", "markdown_it")) == []
