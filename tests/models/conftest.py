"""A home folder with what other tools keep, made of links to the real model file; and a library on it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from storage import open_store
from tests.engine.conftest import model_path
from workbench.library import Library

ORIGINAL = model_path()  # before a test changes where models are
HASH = "a3f1" * 16
"""A digest by which blobs are named where no test reads them whole."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Empty, and nothing of the machine's own is looked at."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("WORKBENCH_MODELS", str(tmp_path / "models"))
    for name in ("OLLAMA_MODELS", "HF_HOME", "HF_HUB_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def library(home: Path, tmp_path: Path) -> Iterator[Library]:
    """On a new file."""
    store = open_store(tmp_path / "workbench.db")
    opened = Library(store)
    yield opened
    opened.unload()
    store.close()


def keep_in_ollama(home: Path, model: Path, digest: str, name: str = "library/smollm2", tag: str = "135m") -> Path:
    """As ``ollama pull`` leaves it: a manifest, and blobs by digest. Returns the blob of the model."""
    root = home / ".ollama/models"
    (root / "blobs").mkdir(parents=True, exist_ok=True)
    layers = [("model", model.read_bytes() if not digest else b"")]
    blob = root / "blobs" / f"sha256-{digest or sha256(layers[0][1]).hexdigest()}"
    link(model, blob)
    listed = [{"mediaType": "application/vnd.ollama.image.model", "digest": blob.name.replace("-", ":"), "size": 1}]
    for kind, text in (
        ("template", "{{ .System }} {{ .Prompt }}"),
        ("params", json.dumps({"stop": ["<|im_start|>", "<|im_end|>"], "temperature": 0.2, "mirostat": 1})),
        ("system", "You are brief."),
        ("license", "Apache License 2.0"),
    ):
        name_of = sha256(text.encode()).hexdigest()
        (root / "blobs" / f"sha256-{name_of}").write_text(text)
        listed.append({"mediaType": f"application/vnd.ollama.image.{kind}", "digest": f"sha256:{name_of}", "size": 1})
    manifest = root / "manifests/registry.ollama.ai" / name / tag
    manifest.parent.mkdir(parents=True, exist_ok=True)
    manifest.write_text(json.dumps({"schemaVersion": 2, "layers": listed}))
    return blob


def keep_in_lm_studio(home: Path, model: Path) -> Path:
    """As LM Studio downloads it, a copy of its own."""
    path = home / ".lmstudio/models/HuggingFaceTB/SmolLM2-GGUF/SmolLM2-135M-Instruct.Q4_1.gguf"
    path.parent.mkdir(parents=True)
    shutil.copyfile(model, path)
    return path


def keep_in_hugging_face(home: Path, model: Path, digest: str) -> Path:
    """As the Hub's client caches it: a blob, and a link to it from the snapshot."""
    repository = home / ".cache/huggingface/hub/models--HuggingFaceTB--SmolLM2-135M-GGUF"
    blob = repository / "blobs" / digest
    path = repository / "snapshots" / "f00d" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    blob.parent.mkdir(parents=True)
    path.parent.mkdir(parents=True)
    link(model, blob)
    path.symlink_to(os.path.relpath(blob, path.parent))
    return path


def link(model: Path, path: Path) -> None:
    """A hard link, or a copy where the folder is on another disk."""
    try:
        os.link(model, path)
    except OSError:
        shutil.copyfile(model, path)


@pytest.fixture
def smollm(tmp_path: Path, home: Path) -> Path:
    """The real model file in a folder of the person's own."""
    path = tmp_path / "mine" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    path.parent.mkdir()
    shutil.copyfile(ORIGINAL, path)
    return path
