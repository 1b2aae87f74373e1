"""The Models screen on a real desk, with real files: settings, notes, copies, failures and their retry."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import psutil
import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Select, Static

from screens.app import WorkbenchApp
from screens.dialogs import ErrorDialog, PathDialog
from screens.models.note import ModelNoteDialog
from screens.models.settings import SettingsDialog
from storage import open_store
from tests.engine.test_gguf_header import write_model
from tests.models.conftest import ORIGINAL, keep_in_lm_studio, link
from tests.screens.helpers import SMALL, WIDE, screen_text, sees, settle, until
from workbench.desk import Desk
from workbench.records.answers import Message
from workbench.records.library import ModelNote, Preset
from workbench.records.models import GenerationSettings, LoadSettings


@pytest.fixture
def folder(home: Path, tmp_path: Path) -> Path:
    """The models folder, empty."""
    folder = tmp_path / "models" / "gguf"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def desk(folder: Path, tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(open_store(tmp_path / "lab.db"))
    yield desk
    desk.close()


async def models_screen(pilot: Pilot[int]) -> WorkbenchApp:
    """Opens it, and waits until the files are hashed."""
    app = pilot.app
    assert isinstance(app, WorkbenchApp)
    await settle(pilot)
    await pilot.press("f1")
    library = app.desk.library
    await until(pilot, lambda: all(file.hash or file.problem for file in library.files()))
    await settle(pilot)
    return app


async def test_settings_show_their_verdict_and_are_kept_as_a_preset(desk: Desk, folder: Path) -> None:
    write_model(folder / "Tiny-F16.gguf")
    async with WorkbenchApp(desk).run_test(size=SMALL) as pilot:
        app = await models_screen(pilot)
        await pilot.press("s")
        await settle(pilot)
        dialog = app.screen
        assert isinstance(dialog, SettingsDialog)
        assert "✓ fits" in str(dialog.query_one("#verdict", Static).render())
        dialog.query_one("#context", Input).value = "900000000"
        await settle(pilot)
        assert "✗ does not fit" in str(dialog.query_one("#verdict", Static).render())
        dialog.query_one("#context", Input).value = "many"
        await settle(pilot)
        assert "whole number" in screen_text(app)
        for name, value in (("context", "2048"), ("batch", "64"), ("idle", "5"), ("name", "small")):
            dialog.query_one(f"#{name}", Input).value = value
        dialog.query_one("#kv", Select).value = "q8_0"
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert "memory at ctx 2,048" in screen_text(app)
        assert "KV q8_0" in screen_text(app)
        await pilot.press("plus", "s")
        await settle(pilot)
        assert app.screen.query_one("#context", Input).value == "4096"
        app.screen.query_one("#preset", Select).value = "small"
        await settle(pilot)
        assert app.screen.query_one("#context", Input).value == "2048", "a preset fills the form"
    (preset,) = desk.library.presets.all()
    assert preset.name == "small"
    assert preset.load == LoadSettings(context=2048, batch=64, kv_type="q8_0")
    assert desk.library.idle_minutes == 5


async def test_a_modelfile_comes_in_and_a_preset_goes_out(
    desk: Desk, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_model(folder / "Tiny-F16.gguf")
    (tmp_path / "pirate").mkdir()
    modelfile = tmp_path / "pirate" / "Modelfile"
    modelfile.write_text("PARAMETER num_ctx 1536\nPARAMETER mirostat 2\nSYSTEM Arr.\n")
    async with WorkbenchApp(desk).run_test(size=SMALL) as pilot:
        app = await models_screen(pilot)
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, SettingsDialog))
        dialog = app.screen
        await pilot.press("ctrl+e")
        assert "Choose a preset" in screen_text(app)
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, PathDialog))
        app.screen.query_one("#path", Input).value = str(modelfile)
        await pilot.press("enter")
        await until(pilot, lambda: any("PARAMETER mirostat 2" in told.message for told in app._notifications))
        await until(pilot, lambda: dialog.query_one("#context", Input).value == "1536")
        await pilot.press("ctrl+e")
        await until(pilot, (tmp_path / "pirate.Modelfile").exists)
    assert "SYSTEM Arr." in (tmp_path / "pirate.Modelfile").read_text()
    assert [preset.name for preset in desk.library.presets.all()] == ["pirate"]


async def test_a_preset_s_system_text_and_sampling_reach_the_playground(desk: Desk, folder: Path) -> None:
    write_model(folder / "Tiny-F16.gguf")
    said = Message("system", "Talk like a pirate.")
    desk.library.presets.save(Preset("pirate", generation=GenerationSettings(max_tokens=7), messages=(said,)))
    async with WorkbenchApp(desk).run_test(size=WIDE) as pilot:
        app = await models_screen(pilot)
        await pilot.press("s")
        await settle(pilot)
        app.screen.query_one("#preset", Select).value = "pirate"
        await settle(pilot)
        await pilot.press("ctrl+s")
        await settle(pilot)
        await pilot.press("p")
        await settle(pilot)
        assert "Talk like a pirate." in screen_text(app)
        await pilot.press("alt+n", "alt+s")
        await settle(pilot)
        assert app.screen.query_one("#max_tokens", Input).value == "7"
        await pilot.press("escape")
        await settle(pilot)
        assert screen_text(app).count("Talk like a pirate.") == 1, "a new conversation begins so, too"


async def test_a_note_is_written_and_an_overdue_review_is_marked(desk: Desk, folder: Path) -> None:
    write_model(folder / "Tiny-F16.gguf")
    async with WorkbenchApp(desk).run_test(size=WIDE) as pilot:
        app = await models_screen(pilot)
        await pilot.press("e")
        await settle(pilot)
        dialog = app.screen
        assert isinstance(dialog, ModelNoteDialog)
        dialog.query_one("#chosen", Input).value = "drafts"
        dialog.query_one("#review", Input).value = "soon"
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert "Write the date as 2027-01-31" in screen_text(app)
        dialog.query_one("#review", Input).value = "2020-01-31"
        await pilot.press("ctrl+s")
        await settle(pilot)
        seen = screen_text(app)
        assert "⚑  Tiny-F16" in seen
        assert "chosen for    drafts" in seen
        assert "⚑ 2020-01-31 overdue" in seen
        await pilot.press("x")
        assert "## Chosen for\n\ndrafts" in app.clipboard
    (file,) = desk.library.files()
    assert desk.library.notes.of(file) == ModelNote("drafts", review=date(2020, 1, 31))


@pytest.mark.model
async def test_copies_are_marked_and_counted_once_hashed(desk: Desk, folder: Path, home: Path) -> None:
    link(ORIGINAL, folder / ORIGINAL.name)
    keep_in_lm_studio(home, ORIGINAL)
    async with WorkbenchApp(desk).run_test(size=WIDE) as pilot:
        app = await models_screen(pilot)
        seen = screen_text(app)
        assert "Library ── 2 · 94 MiB in copies" in seen
        assert seen.count("≡  SmolLM2-135M-Instruct.Q4_1") == 2


@pytest.mark.model
async def test_a_load_or_a_process_that_fails_offers_less_and_r_tries_it(desk: Desk, folder: Path) -> None:
    link(ORIGINAL, folder / ORIGINAL.name)
    async with WorkbenchApp(desk).run_test(size=WIDE) as pilot:
        app = await models_screen(pilot)
        await pilot.press("s")
        await settle(pilot)
        dialog = app.screen
        dialog.query_one("#context", Input).value = "512"
        dialog.query_one("#kv", Select).value = "q4_0"
        dialog.query_one("#flash", Select).value = ""
        await pilot.press("ctrl+l")
        await settle(pilot)
        assert isinstance(app.screen, ErrorDialog)
        seen = screen_text(app)
        assert "r tries again with KV in f16" in seen
        assert "The engine's last words" in seen
        await pilot.press("r")
        await settle(pilot)
        assert desk.model
        assert desk.model.settings.kv_type == "f16"
        psutil.Process(desk.model.pid).kill()
        await sees(pilot, "R tells why")  # psutil.wait would take the exit code
        await pilot.press("R")
        await settle(pilot)
        dialog = app.screen
        assert isinstance(dialog, ErrorDialog)
        assert "SIGKILL" in dialog.error.message
        assert "with batches of 128 tokens" in str(dialog.query_one("#retry", Static).render())
