"""What a person writes about a model stays with its bytes, and the card says what the file really is."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pytest

from bench.quantizations import quantize
from tests.engine.test_gguf_header import write_model
from tests.models.conftest import keep_in_lm_studio
from workbench.engine.gguf_header import read_header
from workbench.library import Library
from workbench.library.notes import card_markdown, fallback_words, parameters_words
from workbench.records.library import ModelNote

NOTE = ModelNote("drafts", "Q2_K: 30 % of answers broke", "no tables", date(2026, 6, 1))
TODAY = date(2026, 6, 1)


def test_a_note_moves_with_its_file_once_the_hash_is_known(library: Library, tmp_path: Path) -> None:
    path = write_model(tmp_path / "Tiny-F16.gguf")
    library.add_folder(str(tmp_path))
    (file,) = library.files()
    library.notes.save(file, NOTE)
    list(library.hash_files())
    path.rename(tmp_path / "Moved-F16.gguf")
    (file,) = library.files(rescan=True)
    list(library.hash_files())
    (file,) = library.files()
    assert file.name == "Moved-F16"
    assert library.notes.of(file) == NOTE
    assert library.notes.for_all([file]) == {file.path: NOTE}
    library.notes.save(file, ModelNote())
    assert library.notes.for_all([file]) == {}


@pytest.mark.model
def test_copies_share_a_note_and_the_card_names_them(smollm: Path, home: Path, library: Library) -> None:
    copy = keep_in_lm_studio(home, smollm)
    library.add_folder(str(smollm.parent))
    list(library.hash_files())
    files = library.files()
    library.notes.save(files[0], NOTE)
    assert [library.notes.of(f) for f in files] == [NOTE, NOTE]
    card = card_markdown(next(f for f in files if f.path == str(smollm)), NOTE, files, TODAY)
    assert f"| copies | {copy}: 94 MiB twice on the disk |" in card
    assert "| parameters | 134.5 M |" in card
    assert "## Discarded alternatives\n\nQ2_K: 30 % of answers broke\n" in card
    assert "## Next review\n\n2026-06-01 (overdue)\n" in card
    assert "apache-2.0" in card


def test_a_review_is_overdue_from_its_day_on() -> None:
    assert NOTE.overdue(date(2026, 6, 1))
    assert not NOTE.overdue(date(2026, 5, 31))
    assert not ModelNote("drafts").overdue(date(2099, 1, 1))


@pytest.mark.model
def test_a_q2_k_says_how_much_of_it_fell_back(smollm: Path, tmp_path: Path) -> None:
    path = tmp_path / "SmolLM2-135M-Instruct.Q2_K.gguf"
    quantize(smollm, path, "Q2_K")
    file = read_header(path)
    assert fallback_words(file) == "180 of 272 tensors fell back to larger types"
    assert file.tensor_types == (("Q4_0", 180), ("F32", 61), ("Q3_K", 30), ("Q8_0", 1))
    assert (file.family, file.parameters) == (read_header(smollm).family, 134_515_008)
    assert read_header(smollm).fallbacks == 0, "Q4_1 has blocks of 32"


def test_a_mixture_tells_the_parameters_that_act(tmp_path: Path) -> None:
    from gguf import GGUFWriter

    path = tmp_path / "Moe-F32.gguf"
    writer = GGUFWriter(path, "qwen3moe")
    writer.add_block_count(1)
    writer.add_expert_count(8)
    writer.add_expert_used_count(2)
    writer.add_tensor("token_embd.weight", np.ones((100, 1000), np.float32))
    writer.add_tensor("blk.0.ffn_up_exps.weight", np.ones((8, 100, 1000), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    file = read_header(path)
    assert (file.parameters, file.active_parameters) == (900_000, 300_000)
    assert parameters_words(file) == "0.9 M, of which 0.3 M act on a token"
