"""Which rerankers there are, and why one can't be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rerankers.models import overlap_encoder, ranking_gguf
from workbench.desk import Desk
from workbench.engine.gguf_header import read_header
from workbench.errors import MissingModelError, NotFoundError
from workbench.rerankers.installed import installed


def test_folders_and_ranking_files_are_listed_with_what_is_wrong(desk: Desk) -> None:
    found = {info.name: info for info in desk.rerankers.installed()}
    assert list(found) == ["late", "bookish", "broken", "classifier", "overlap"]
    assert [info.kind for info in found.values()] == ["late", "gguf", "onnx", "onnx", "onnx"]
    assert found["overlap"].problem == found["bookish"].problem == ""
    assert found["broken"].problem == "it lacks tokenizer.json, tokenizer_config.json"
    assert found["overlap"].size > 0


def test_only_files_that_rank_are_rerankers(tmp_path: Path) -> None:
    import gguf

    plain = tmp_path / "plain.gguf"
    writer = gguf.GGUFWriter(plain, "llama")
    writer.add_block_count(1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    files = [read_header(plain), read_header(ranking_gguf(tmp_path / "ranks.gguf"))]
    assert [file.ranks for file in files] == [False, True]
    assert [info.name for info in installed(tmp_path / "none", files)] == ["late", "ranks"]


def test_a_hub_download_and_a_name_that_is_taken(tmp_path: Path) -> None:
    folder = overlap_encoder(tmp_path / "hub")
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    overlap_encoder(tmp_path / "late")
    found = {info.path: info for info in installed(tmp_path, ())}
    assert (found[str(folder)].model_file, found[str(folder)].problem) == ("onnx/model.onnx", "")
    assert "rename it" in found[str(tmp_path / "late")].problem


def test_what_is_not_there_or_broken_can_not_be_opened(desk: Desk) -> None:
    with pytest.raises(NotFoundError, match="no reranker “nothing”"):
        desk.rerankers.open("nothing")
    with pytest.raises(MissingModelError, match=r"it lacks tokenizer\.json"):
        desk.rerankers.open("broken")
