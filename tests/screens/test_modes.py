"""Models and Corpus, as a person uses them."""

from __future__ import annotations

import re

import pytest

from screens.dialogs import ChoiceDialog, ErrorDialog, NoteDialog, PathDialog
from screens.help import HelpScreen
from screens.ingest import IngestScreen, share
from tests.screens.fake_desk import FakeDesk
from tests.screens.helpers import LARGE, SMALL, WIDE, app_on, press, screen_text, sees, settle, type_text
from workbench.records.corpus import IngestProgress


async def test_models_are_listed_with_their_header_and_a_broken_one_says_why() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("f1")
        await settle(pilot)
        seen = screen_text(app)
        assert "Library ── 4" in seen
        assert "253 MiB" in seen
        assert "268.1 M" in seen
        assert "~ no template" in seen
        await pilot.press("end")
        await settle(pilot)
        assert "The header names 0 layers." in screen_text(app)


async def test_enter_loads_a_model_and_u_tells_what_came_back() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("f1")
        await settle(pilot)
        await pilot.press("down", "down", "enter")
        await settle(pilot)
        assert desk.model is not None
        assert desk.model.file.name == "SmolLM2-135M-Instruct.Q4_1.gguf"
        seen = await sees(pilot, "●  SmolLM2-135M-Instruct")
        assert re.search(r"weights ▇+ +94 MiB", seen)
        assert re.search(r"✓ fits · incl\. \d+ MiB process", seen)
        await pilot.press("u")
        await settle(pilot)
        await sees(pilot, "Unloaded: 226 MiB came back.")
        await sees(pilot, "no model loaded")


async def test_loading_is_stopped_with_escape_and_nothing_is_loaded() -> None:
    desk = FakeDesk(slow=0.2)
    app = app_on(desk)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("f1")
        await settle(pilot)
        await pilot.press("enter")
        await sees(pilot, "loading ▓")
        await pilot.press("escape")
        await settle(pilot)
        assert desk.model is None
        assert not app.jobs.works


async def test_a_model_that_does_not_load_leaves_an_error_and_a_working_screen() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("f1")
        await settle(pilot)
        await pilot.press("end", "enter")
        await settle(pilot)
        assert isinstance(app.screen, ErrorDialog)
        assert "exit 134" in screen_text(app)
        await pilot.press("escape")
        await sees(pilot, "l loads a model")


async def test_a_folder_is_added_and_a_path_that_is_none_is_refused() -> None:
    desk = FakeDesk(empty=True)
    app = app_on(desk)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("f1")
        await settle(pilot)
        assert "No GGUF files yet." in screen_text(app)
        await pilot.press("a")
        await settle(pilot)
        assert isinstance(app.screen, PathDialog)
        await type_text(pilot, "pyproject.toml")
        await pilot.press("enter")
        assert "There is no such folder." in screen_text(app)
        app.screen.query_one("#path").value = "tests"
        await pilot.press("enter")
        await settle(pilot)
        assert desk._folders == ["tests"]
        assert "Library ── 4" in screen_text(app)


async def test_a_dozen_lines_show_rows_and_the_keys() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=(40, 12)) as pilot:
        await settle(pilot)
        await type_text(pilot, "enrolment")
        lines = screen_text(app).splitlines()
        assert [line.split()[0] for line in lines[3:5]] == ["1", "2"]
        assert "F1" in lines[-1]
        await pilot.press("f1")
        await settle(pilot)
        lines = screen_text(app).splitlines()
        assert any("gemma-3-270m" in line for line in lines)
        assert "1" in lines[-1]


async def test_at_80_columns_the_keys_of_the_screen_go_before_the_names_of_the_others() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("f2")
        await settle(pilot)
        bar = screen_text(app).splitlines()[-1]
        for words in ("2 Corpus", "a All chunks", "h Health"):
            assert words in bar


async def test_a_model_that_died_is_told_and_no_longer_shown_as_loaded() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("f1")
        await settle(pilot)
        await pilot.press("down", "down", "enter")
        await settle(pilot)
        desk.kill("The language model's process ended: It was ended by SIGKILL.")
        seen = await sees(pilot, "✗ the model's process ended · R tells why")
        assert "●" not in seen.splitlines()[3]


async def test_the_palette_loads_a_model_and_does_what_keys_do() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.action_load_model()
        await settle(pilot)
        assert isinstance(app.screen, ChoiceDialog)
        await pilot.press("enter")
        await settle(pilot)
        assert app.current_mode == "models"
        assert desk.model is not None
        assert desk.model.file.name.startswith("gemma")
        await app.act("ask", "filter")
        await settle(pilot)
        assert app.current_mode == "ask"
        assert app.focused is not None
        assert app.focused.id == "filter"


async def test_a_collection_is_deleted_by_name_after_a_question() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.action_delete_collection()
        await settle(pilot)
        await pilot.press("home", "enter")
        await pilot.pause()
        assert "faro goes for good: 14 documents · 96 chunks." in screen_text(app)
        await pilot.press("y")
        await settle(pilot)
        assert desk.deleted == ["faro"]


async def test_an_ingest_leaves_the_collection_and_tells_of_failures_whole() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("f2")
        await settle(pilot)
        await pilot.press("i")
        await settle(pilot)
        await type_text(pilot, "pyproject.toml")
        app.screen.query_one("#collection").value = "new"
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert desk.collection == "regulations-2026"
        assert isinstance(app.screen, IngestScreen)
        seen = screen_text(app)
        assert "11 of 12 sources read. 1 failed: alt+w tells why." in " ".join(seen.replace("│", " ").split())
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, NoteDialog)
        seen = screen_text(app)
        assert "The PDF is locked." in seen
        assert "→ Save it without a password." in seen


async def test_help_opens_over_a_dialog() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("f2")
        await settle(pilot)
        await pilot.press("D", "question_mark")
        await pilot.pause()
        assert isinstance(app.screen, HelpScreen)
        seen = screen_text(app)
        assert "In this dialog" in seen
        assert "Delete" in seen


def test_the_bar_of_an_ingest_follows_the_time_and_not_only_whole_sources() -> None:
    running = IngestProgress("c", 0, 2, 1713, 2527, "big.txt", 14.2, 57.0, 120.0)
    assert round(share(running), 2) == 0.68
    assert share(IngestProgress("c", 1, 4, 0, 0, "", 0.0, None, 1.0)) == 0.25
    assert share(IngestProgress("c", 4, 4, 9, 9, "", 3.0, 0.0, 3.0, finished=True)) == 1.0


async def test_a_document_that_another_workbench_deleted_is_named_as_the_person_knows_it() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("f2")
        await settle(pilot)
        gone = desk.documents()[0]
        await pilot.press("D")
        await pilot.pause()
        desk.delete_documents([gone.id])
        await pilot.press("y")
        await settle(pilot)
        assert isinstance(app.screen, ErrorDialog)
        seen = screen_text(app)
        assert f"Not in the file any more, or not all of it: {gone.source_id}." in seen
        assert gone.id not in seen
        await pilot.press("escape")
        await settle(pilot)
        assert "regulations-2026 ── 5" in screen_text(app)


async def test_enter_after_words_does_what_the_palette_lists_first() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("ctrl+p")
        await settle(pilot)
        await type_text(pilot, "go to corpus")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert app.current_mode == "corpus"


@pytest.mark.parametrize(
    ("keys", "pane"), [("f1", "library"), ("f1 b", "bench-side"), ("f2", "chunks"), ("f4", "figures")]
)
async def test_a_pane_alone_is_as_wide_as_the_terminal(keys: str, pane: str) -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        for key in keys.split():
            await pilot.press(key)
            await settle(pilot)
        alone = app.screen.query_one(f"#{pane}")
        app.screen.set_focus(next(node for node in app.screen.focus_chain if alone in node.ancestors_with_self))
        await pilot.press("alt+z")
        await settle(pilot)
        assert app.screen.maximized is alone
        assert (alone.region.x, alone.region.width) == (0, LARGE[0])
        assert any(line.endswith("╮") for line in screen_text(app).split("\n")), "its right border"


@pytest.mark.parametrize("size", [SMALL, LARGE])
@pytest.mark.parametrize(("key", "seen"), [("p", "user ▸"), ("b", "Bench"), ("L", "Ladder")])
async def test_a_room_opened_while_a_pane_is_alone_is_seen(size: tuple[int, int], key: str, seen: str) -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=size) as pilot:
        await press(pilot, "f1", "z")
        assert app.screen.maximized is app.screen.query_one("#library")
        told = await press(pilot, key)
        assert app.screen.maximized is None
        assert seen in told
        assert app.focused
        assert app.focused.region.size.area, "what has the focus is on the screen"
        app.screen.query_one("#library-grid").focus()
        await press(pilot, "z", key)
        assert app.screen.has_class("-room"), "its key brings it to light, and doesn't shut it unseen"
        assert app.screen.maximized is None
