"""The table of known embedding models on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from workbench.indexing.catalogue import known_models


def test_what_is_known_is_listed_without_anything_installed(cli: Cli) -> None:
    told = cli("--lang", "es", "embedders", "list", "--known")
    assert told.code == 0
    assert told.out.count("\n") == len(known_models()) + 1
    small = next(line for line in told.out.splitlines() if line.startswith("multilingual-e5-small"))
    assert "94 idiomas" in small
    assert "'query: ' 'passage: '" in small
    nomic = next(m for m in json.loads(cli("embedders", "list", "--known", "--json").out) if "nomic" in m["names"][0])
    assert nomic["matryoshka"] == [768, 512, 256, 128, 64]


@pytest.mark.model
def test_an_exact_index_has_no_milliseconds_to_tell(cli: Cli, filled: Path) -> None:
    head, first, *_ = cli("--db", filled, "indexes", "recall").out.splitlines()
    assert head.split() == ["form", "k", "Recall_ANN@k", "N·d·b"]
    assert first.endswith("as stored")
