"""A loaded model and a running embedder, shared by the tests of this folder; and damaged model files."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from workbench import paths
from workbench.engine.client import ChildGenerator, load_generator
from workbench.engine.embedding import ChildEmbedder, open_embedder
from workbench.engine.gguf_header import read_header
from workbench.records.models import LoadSettings


def model_path() -> Path:
    return paths.gguf_folder() / paths.STARTER_MODEL


def embedder_folder() -> Path:
    return paths.embedders_folder() / paths.STARTER_EMBEDDER


@pytest.fixture(scope="package")
def generator() -> Iterator[ChildGenerator]:
    loaded = load_generator(read_header(model_path()), LoadSettings(context=4096))
    yield loaded
    loaded.close()


@pytest.fixture(scope="package")
def embedder() -> Iterator[ChildEmbedder]:
    opened = open_embedder(embedder_folder())
    yield opened
    opened.close()


Damage = Callable[[str, str, float], Path]


@pytest.fixture
def damage(tmp_path: Path) -> Damage:
    """Copies the model with one number of its header changed: key, its ``struct`` code, new value."""

    def copy(key: str, code: str, value: float) -> Path:
        path = tmp_path / "damaged.gguf"
        shutil.copyfile(model_path(), path)
        with path.open("r+b") as file:
            header = file.read(1 << 20)
            # After the key: four bytes of value type, then the value.
            file.seek(header.index(key.encode()) + len(key) + 4)
            file.write(struct.pack("<" + code, value))
        return path

    return copy
