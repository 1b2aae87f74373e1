"""Ollama Modelfiles: read, written, and read back; what has no effect here is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.engine.test_gguf_header import write_model
from tests.models.conftest import HASH, keep_in_ollama
from workbench.errors import NotFoundError, UsageError
from workbench.library import Library
from workbench.library.modelfile import read_modelfile, write_modelfile
from workbench.library.presets import modelfile_of, preset_of
from workbench.records.answers import Message
from workbench.records.library import Modelfile, Preset
from workbench.records.models import Adapter, GenerationSettings, LoadSettings

FILE = '''# a file as people write them
FROM ./SmolLM2-135M-Instruct.Q4_1.gguf
ADAPTER ./style.gguf
PARAMETER num_ctx 2048
parameter temperature 0.3
PARAMETER stop "<|im_end|>"
PARAMETER stop "User:"
PARAMETER use_mmap false
PARAMETER num_gpu -1
PARAMETER num_predict -1
PARAMETER min_p 0.05
PARAMETER repeat_penalty 1.1
PARAMETER mirostat 2
TEMPLATE """{{ if .System }}<|im_start|>system
{{ .System }}<|im_end|>
{{ end }}{{ .Prompt }}"""
SYSTEM You answer in one sentence.
MESSAGE user Is Toronto in Canada?
MESSAGE assistant """yes
indeed"""
LICENSE "MIT"
REQUIRES 0.14.0
MESSAGE narrator hello
'''


def test_every_instruction_is_read_and_what_has_no_effect_is_named() -> None:
    imported = preset_of(read_modelfile(FILE), "smol")
    preset = imported.preset
    assert preset.model == "./SmolLM2-135M-Instruct.Q4_1.gguf"
    assert preset.load == LoadSettings(context=2048, adapters=(Adapter("./style.gguf"),))
    assert preset.generation == GenerationSettings(
        temperature=0.3, stop=("<|im_end|>", "User:"), min_p=0.05, repeat_penalty=1.1
    )
    assert preset.template.startswith("{{ if .System }}<|im_start|>system\n")
    assert preset.system == "You answer in one sentence."
    assert preset.messages == (Message("user", "Is Toronto in Canada?"), Message("assistant", "yes\nindeed"))
    assert preset.licences == ("MIT",)
    assert imported.ignored == ("PARAMETER mirostat 2", "REQUIRES 0.14.0", "MESSAGE narrator hello")


def test_a_preset_goes_out_and_comes_back(library: Library, tmp_path: Path) -> None:
    preset = Preset(
        "smol",
        model="/models/smol.gguf",
        load=LoadSettings(context=8192, threads=3, mmap=True, adapters=(Adapter("/a b/style.gguf"),)),
        generation=GenerationSettings(max_tokens=99, temperature=0.7, top_p=0.5, top_k=3, seed=7, stop=("\n\n", "#")),
        system='Say "yes".\nOr no.',
        template="{{ .Prompt }}",
        licences=("MIT\nall of it",),
        messages=(Message("user", "  hi"), Message("assistant", '"quoted"')),
        other=(("mirostat", "2"),),
    )
    library.presets.save(preset)
    path = tmp_path / "Modelfile"
    path.write_text(library.presets.export_modelfile("smol"))
    assert library.presets.import_modelfile(str(path), "smol").preset == preset
    assert library.presets.all() == (preset,)
    library.presets.delete("smol")
    assert library.presets.all() == ()
    with pytest.raises(NotFoundError, match="no preset"):
        library.presets.get("smol")


def test_files_beside_a_modelfile_are_found_from_anywhere_and_names_stay_names(
    library: Library, tmp_path: Path
) -> None:
    (tmp_path / "style.gguf").touch()
    (tmp_path / "Modelfile").write_text("FROM smollm2:135m\nADAPTER ./style.gguf\nADAPTER ./gone.gguf\n")
    preset = library.presets.import_modelfile(str(tmp_path / "Modelfile"), "styled").preset
    assert preset.model == "smollm2:135m"
    assert [adapter.path for adapter in preset.load.adapters] == [str(tmp_path / "style.gguf"), "./gone.gguf"]


def test_an_export_says_what_ollama_would_do_otherwise() -> None:
    assert modelfile_of(Preset("plain")).parameters == (
        ("num_ctx", "4096"),
        ("temperature", "0.0"),
        ("top_p", "0.95"),
        ("repeat_penalty", "1.0"),
    )


_texts = st.text(alphabet=st.characters(exclude_characters="\r", exclude_categories=["Cs"]), min_size=1)
_words = st.from_regex(r"[a-z_]+", fullmatch=True)


@given(
    st.lists(st.tuples(_words, _texts)),
    _texts,
    _texts,
    st.lists(_texts),
    st.lists(st.builds(Message, st.sampled_from(["system", "user", "assistant"]), _texts)),
)
def test_any_text_that_can_be_written_comes_back(
    parameters: list[tuple[str, str]], template: str, system: str, licences: list[str], messages: list[Message]
) -> None:
    file = Modelfile(
        "/m.gguf", tuple(parameters), template, system, ("/a.gguf",), tuple(licences), tuple(messages), unknown=()
    )
    try:
        text = write_modelfile(file)
    except UsageError:
        texts = (template, system, *licences, *(v for _, v in parameters), *(m.content for m in messages))
        assume(any('"' in t for t in texts))
        return
    assert read_modelfile(text) == file


@given(st.text())
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    try:
        read_modelfile(text)
    except UsageError as error:
        assert error.remedy  # noqa: PT017 -- most texts are read


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('SYSTEM """never\nending', "breaks off"),
        ("PARAMETER num_ctx many", "num_ctx"),
        ("PARAMETER use_mmap perhaps", "use_mmap"),
        ("PARAMETER num_ctx 1e999", "num_ctx"),
        ("PARAMETER num_ctx -5", "num_ctx"),
        ("PARAMETER temperature nan", "temperature"),
        ("PARAMETER repeat_penalty inf", "repeat_penalty"),
        ("PARAMETER top_p 7", "top_p"),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as refused:
        preset_of(read_modelfile(text), "x")
    assert refused.value.remedy


def test_a_seed_that_is_another_each_time_is_kept_and_said_to_have_no_effect() -> None:
    imported = preset_of(read_modelfile("PARAMETER seed -1"), "x")
    assert imported.ignored == ("PARAMETER seed -1",)
    assert imported.preset.generation.seed == 0
    assert ("seed", "-1") in modelfile_of(imported.preset).parameters


def test_ollamas_own_layers_become_a_preset(home: Path, tmp_path: Path, library: Library) -> None:
    blob = keep_in_ollama(home, write_model(tmp_path / "Tiny-F16.gguf"), HASH)
    (file,) = library.files()
    imported = library.presets.import_ollama(file, "tiny")
    preset = imported.preset
    assert (preset.model, preset.system, preset.template) == (
        str(blob),
        "You are brief.",
        "{{ .System }} {{ .Prompt }}",
    )
    assert preset.generation == GenerationSettings(temperature=0.2, stop=("<|im_start|>", "<|im_end|>"))
    assert imported.ignored == ("PARAMETER mirostat 1",)


def test_of_two_names_for_one_file_each_gives_its_own_layers(home: Path, tmp_path: Path, library: Library) -> None:
    model = write_model(tmp_path / "Tiny-F16.gguf")
    keep_in_ollama(home, model, HASH)
    kept = home / ".ollama/models/manifests/registry.ollama.ai"
    layers = json.loads((kept / "library/smollm2/135m").read_text())["layers"]
    (kept / "me/pirate").mkdir(parents=True)
    (kept / "me/pirate/latest").write_text(
        json.dumps({"layers": [one for one in layers if not one["mediaType"].endswith("system")]})
    )
    (file,) = library.files()
    assert library.presets.import_ollama(file, "a", "smollm2:135m").preset.system == "You are brief."
    assert library.presets.import_ollama(file, "b", "me/pirate:latest").preset.system == ""


def test_a_file_that_isnt_there_or_is_none(library: Library, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        library.presets.import_modelfile(str(tmp_path / "nothing"), "x")
    with pytest.raises(UsageError, match="can't be read"):
        library.presets.import_modelfile(str(tmp_path), "x")
