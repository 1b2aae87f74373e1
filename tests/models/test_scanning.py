"""What other tools keep is found under their names; links to one file are one, copies are told by their hash."""

from __future__ import annotations

import json
import os
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.test_gguf_header import write_model
from tests.models.conftest import (
    HASH,
    keep_in_hugging_face,
    keep_in_lm_studio,
    keep_in_ollama,
    link,
)
from workbench.engine.failures import check_load
from workbench.engine.gguf_header import file_hash
from workbench.errors import EngineError
from workbench.library import Library
from workbench.library.keepers import all_kept, read_manifest
from workbench.library.scanning import scan
from workbench.library.variants import copies, variants, wasted
from workbench.records.models import LoadSettings, ModelFile

NAME = "SmolLM2-135M-Instruct.Q4_1"


@pytest.mark.model
def test_one_file_that_three_tools_link_to_is_listed_once_with_all_its_places(
    smollm: Path, home: Path, library: Library
) -> None:
    blob = keep_in_ollama(home, smollm, HASH)
    snapshot = keep_in_hugging_face(home, smollm, HASH)
    library.add_folder(str(smollm.parent))
    (file,) = library.files()
    assert (file.name, file.path, file.hash) == (NAME, str(smollm), HASH)
    assert [(p.keeper, p.name, p.path) for p in file.places] == [
        ("folder", "", str(smollm)),
        ("ollama", "smollm2:135m", str(blob)),
        ("huggingface", "HuggingFaceTB/SmolLM2-135M-GGUF", str(snapshot)),
    ]
    assert copies(library.files()) == {}


@pytest.mark.model
def test_a_model_that_only_ollama_keeps_bears_ollamas_name_and_is_loaded_from_its_blob(
    smollm: Path, home: Path, library: Library
) -> None:
    digest = file_hash(smollm)
    keep_in_ollama(home, smollm, digest)
    (file,) = library.files()
    assert (file.name, file.architecture, file.hash) == ("smollm2:135m", "llama", digest)
    *_, last = library.load(file.path)
    assert last.model
    assert last.model.file.name == "smollm2:135m"
    assert last.model.file.hash == digest


@pytest.mark.model
def test_copies_are_told_by_their_hash_and_say_what_they_waste(smollm: Path, home: Path, library: Library) -> None:
    keep_in_lm_studio(home, smollm)
    library.add_folder(str(smollm.parent))
    assert [f.places[0].name for f in library.files()] == ["HuggingFaceTB/SmolLM2-GGUF", ""]
    assert wasted(library.files()) == 0, "nothing is known before they are hashed"
    seen = list(library.hash_files())
    assert [p.left for p in seen if p.hash] == [1, 0]
    assert all(a.fraction <= b.fraction for a, b in pairwise(seen) if a.path == b.path)
    assert wasted(library.files()) == smollm.stat().st_size
    (same,) = copies(library.files()).values()
    assert len(same) == 2
    assert variants(library.files()) == (), "a copy is no variant"
    assert list(library.hash_files()) == [], "it is remembered"
    assert [f.hash for f in library.files(rescan=True)] == [file_hash(smollm)] * 2


@pytest.mark.model
def test_verifying_finds_a_blob_that_isnt_what_its_name_says(smollm: Path, home: Path, library: Library) -> None:
    keep_in_ollama(home, smollm, HASH)
    (last,) = (p for p in library.hash_files(verify=True) if p.hash)
    assert last.differs
    assert library.files()[0].hash == file_hash(smollm)


def test_a_stop_ends_hashing_within_a_piece(home: Path, tmp_path: Path, library: Library) -> None:
    write_model(tmp_path / "Big-F16.gguf")
    with (tmp_path / "Big-F16.gguf").open("ab") as file:
        file.truncate(1 << 30)
    library.add_folder(str(tmp_path))
    reading = library.hash_files()
    assert next(reading).fraction < 0.1
    reading.close()
    assert library.files()[0].hash == ""


def test_the_header_of_a_file_that_has_not_changed_is_not_read_again(
    home: Path, tmp_path: Path, library: Library
) -> None:
    path = write_model(tmp_path / "Tiny-F16.gguf")
    library.add_folder(str(tmp_path))
    (before,) = library.files()
    moment = path.stat().st_mtime_ns
    path.write_bytes(b"\0" * path.stat().st_size)
    os.utime(path, ns=(moment, moment))
    assert library.files(rescan=True) == (before,)
    os.utime(path, ns=(moment, moment + 1_000_000_000))
    (changed,) = library.files(rescan=True)
    assert changed.problem == "this is no GGUF file"


def test_variants_are_grouped_by_family_architecture_and_parameters(tmp_path: Path) -> None:
    for name in ("Tiny-F16.gguf", "Tiny-Q8_0.gguf", "Other-F16.gguf"):
        write_model(tmp_path / name)
    (group,) = variants(scan([tmp_path]))
    assert (group.family, group.parameters) == ("tiny", 4096)
    assert [f.name for f in group.files] == ["Tiny-F16", "Tiny-Q8_0"]


def test_parts_of_a_split_file_in_a_cache_are_one_model(home: Path, tmp_path: Path) -> None:
    whole = write_model(tmp_path / "Tiny-F16.gguf")
    repository = home / ".cache/huggingface/hub/models--org--Tiny"
    (repository / "blobs").mkdir(parents=True)
    (repository / "snapshots/1").mkdir(parents=True)
    for number in (2, 1):
        blob = repository / "blobs" / str(number)
        shutil.copyfile(whole, blob)
        (repository / "snapshots/1" / f"Tiny-F16-{number:05}-of-00002.gguf").symlink_to(blob)
    (file,) = scan([], all_kept({}, home))
    assert (file.name, file.size) == ("Tiny-F16", 2 * whole.stat().st_size)
    assert file.path.endswith("00001-of-00002.gguf")
    assert file.hash == "", "a blob's name is the hash of a part alone"


def test_hard_links_in_one_folder_are_one_file(tmp_path: Path) -> None:
    link(write_model(tmp_path / "a.gguf"), tmp_path / "b.gguf")
    (file,) = scan([tmp_path])
    assert [Path(p.path).name for p in file.places] == ["a.gguf", "b.gguf"]


def test_links_to_folders_are_followed_and_never_round_in_a_circle(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "models", tmp_path / "big disk"
    for made in (folder, elsewhere):
        made.mkdir()
    write_model(elsewhere / "far.gguf")
    write_model(tmp_path / "above.gguf")
    (folder / "linked").symlink_to(elsewhere)
    (folder / "again").symlink_to(elsewhere)
    (elsewhere / "round").symlink_to(folder)
    (folder / "up").symlink_to(tmp_path)
    assert [file.path for file in scan([folder])] == [str(folder / "again" / "far.gguf")]


def test_environment_variables_say_where_tools_keep_models(home: Path, tmp_path: Path) -> None:
    model = write_model(tmp_path / "Tiny-F16.gguf")
    keep_in_ollama(tmp_path, model, HASH, "somebody/tiny", "latest")
    keep_in_hugging_face(tmp_path, model, HASH)
    environment = {
        "OLLAMA_MODELS": str(tmp_path / ".ollama/models"),
        "HF_HOME": str(tmp_path / ".cache/huggingface"),
    }
    assert [f.place.name for f in all_kept(environment, home)] == [
        "somebody/tiny:latest",
        "HuggingFaceTB/SmolLM2-135M-GGUF",
    ]
    assert list(all_kept({}, home)) == []


@pytest.mark.parametrize("pointed", [False, True])
def test_lm_studio_says_in_its_settings_where_it_keeps_models(home: Path, tmp_path: Path, pointed: bool) -> None:
    folder = tmp_path / "big disk/models"
    own = tmp_path / "elsewhere" if pointed else home / ".lmstudio"
    for repository in (folder / "maker/Tiny-GGUF", own / "models/maker/Other-GGUF"):
        repository.mkdir(parents=True)
        write_model(repository / "Model-F16.gguf")
    (own / "settings.json").write_text(json.dumps({"downloadsFolder": str(folder)}), "utf-8-sig")
    if pointed:
        (home / ".lmstudio-home-pointer").write_text(f"{own}\n")
    assert [f.place.name for f in all_kept({}, home)] == ["maker/Tiny-GGUF", "maker/Other-GGUF"]


def test_settings_of_lm_studio_that_name_no_folder_leave_its_own(home: Path) -> None:
    repository = home / ".lmstudio/models/maker/Tiny-GGUF"
    repository.mkdir(parents=True)
    write_model(repository / "Tiny-F16.gguf")
    for settings in (
        b"",
        b"null",
        b"{}",
        b'{"downloadsFolder": 3}',
        b'{"downloadsFolder": "."}',
        b"[" * 100_000,
        b"\xff",
    ):
        (home / ".lmstudio/settings.json").write_bytes(settings)
        assert [f.place.name for f in all_kept({}, home)] == ["maker/Tiny-GGUF"], settings[:30]


def test_a_missing_blob_is_a_problem_of_that_model_alone(home: Path, tmp_path: Path) -> None:
    keep_in_ollama(home, write_model(tmp_path / "Tiny-F16.gguf"), HASH).unlink()
    (file,) = scan([], all_kept({}, home))
    assert (file.name, file.problem) == (
        "smollm2:135m",
        "its data isn't there: a download that didn't end, or was deleted",
    )


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "null",
        "{}",
        '{"layers": 3}',
        '{"layers": [{"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:../../etc/passwd"}]}',
        "[" * 100_000,
    ],
)
def test_a_manifest_that_is_none_names_nothing(tmp_path: Path, body: str) -> None:
    path = tmp_path / "latest"
    path.write_text(body)
    assert read_manifest(path) == ()


@given(st.recursive(st.none() | st.text() | st.integers(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_any_json_is_read_as_a_manifest_or_as_none(tmp_path_factory: pytest.TempPathFactory, body: object) -> None:
    path = tmp_path_factory.getbasetemp() / "manifest"
    path.write_text(json.dumps({"layers": body}))
    assert read_manifest(path) == ()


def test_a_folder_that_may_not_be_looked_into_holds_nothing(home: Path, tmp_path: Path) -> None:
    refused = "/" + "x" * 300  # the system refuses it to everyone; a service's folder only to others than root
    assert list(all_kept({"OLLAMA_MODELS": refused, "HF_HUB_CACHE": refused}, home)) == []
    kept = keep_in_ollama(home, write_model(tmp_path / "Tiny-F16.gguf"), HASH)
    kept.parent.chmod(0)
    (file,) = scan([tmp_path / refused[1:]], all_kept({}, home))
    kept.parent.chmod(0o700)
    assert file.problem in ("", "you have no permission for it")


def test_what_is_wrong_is_told_where_one_may_not_look() -> None:
    far = ModelFile("/" + "x" * 300, "far", 0, problem="no permission")
    with pytest.raises(EngineError) as refused:
        check_load(far, LoadSettings())
    assert refused.value.remedy == "Give yourself permission to read it, or choose another one."
