"""The review queue and the datasets' dialogs as a person uses them."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

from screens.dialogs import ChoiceDialog
from screens.evals.proposing import EditDialog, OrderDialog
from screens.evals.review import ReviewScreen
from screens.evals.sets import DatasetsScreen, WriteDialog
from screens.help import HelpScreen
from screens.widgets.grid import Grid
from tests.screens.fake_desk import FakeDesk
from tests.screens.helpers import SMALL, WIDE, app_on, on_evals, press, screen_text, sees, settle


def with_model(desk: FakeDesk) -> FakeDesk:
    for _ in desk.load(desk.files()[0].path):
        pass
    return desk


async def test_questions_are_made_decided_by_key_and_only_the_accepted_ones_count() -> None:
    desk = with_model(FakeDesk())
    app = app_on(desk)
    async with app.run_test(size=SMALL, notifications=True) as pilot:
        await on_evals(pilot, "v")
        assert isinstance(app.screen, OrderDialog)
        app.screen.query_one("#count", Input).value = "none"
        assert "give a whole number from 1 on" in await press(pilot, "enter")
        app.screen.query_one("#count", Input).value = "5"
        seen = await press(pilot, "enter")
        assert isinstance(app.screen, ReviewScreen)
        assert "4 wait · 0 accepted · 0 rejected" in seen  # the fifth copied its passage
        assert "What is said in passage 0?" in seen
        assert "“September 1–15: extension of enrolment." in seen
        assert "SmolLM2 · seed 0" in seen
        assert "1 wait · 2 accepted · 1 rejected" in await press(pilot, "a", "r", "a")
        seen = await press(pilot, "u", "ctrl+z")
        assert "3 wait · 1 accepted · 0 rejected" in seen
        await press(pilot, "r", "question_mark")
        assert isinstance(app.screen, HelpScreen)
        assert "Takes the last decision back" in screen_text(app)
        seen = await press(pilot, "escape", "escape")
        assert "xquad-es: 15 cases." in seen
        assert [c.id for c in desk.evals.cases("xquad-es")][-1] == "syn-000"
        assert [c.state for c in desk.evals.review("xquad-es").all()] == ["accepted", "rejected", "waiting", "waiting"]


async def test_the_screen_says_how_many_wait_and_an_edited_one_is_accepted_as_it_was_written() -> None:
    desk = FakeDesk()
    desk.evals.propose_unanswerable("xquad-es", 3)
    app = app_on(desk)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        seen = await on_evals(pilot)
        assert "3 wait" in seen
        app.screen.query_one("#runs-grid", Grid).go_to("0/xquad-es")
        await settle(pilot)
        assert "3 candidates wait: none counts before you accepted it." in screen_text(app)
        seen = await press(pilot, "v")
        assert "no answer in the collection" in seen
        assert "source_id !=" in seen
        await press(pilot, "down", "e")
        assert isinstance(app.screen, EditDialog)
        app.screen.query_one("#question", Input).value = " "
        assert "A case has a question." in await press(pilot, "ctrl+s")
        app.screen.query_one("#question", Input).value = "When do classes [b]begin[/b]?"
        app.screen.query_one("#answers", TextArea).text = "in September\n\n  on the 20th "
        assert "When do classes [b]" in await press(pilot, "ctrl+s")
        accepted = [c for c in desk.evals.review("xquad-es").all() if c.state == "accepted"]
        assert [(c.case.question, c.case.answers) for c in accepted] == [
            ("When do classes [b]begin[/b]?", ("in September", "on the 20th"))
        ]
        await press(pilot, "ctrl+z", "escape")
        assert {c.state for c in desk.evals.review("xquad-es").all()} == {"waiting"}
        assert "[b]" not in "".join(c.case.question for c in desk.evals.review("xquad-es").all())
        assert len(desk.evals.cases("xquad-es")) == 14


async def test_without_a_model_only_unanswerable_ones_are_made_and_making_can_be_stopped() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        assert "No model is loaded" in await on_evals(pilot, "v")
        app.screen.query_one("#kind").value = "chunks"
        assert "Questions are made by a language model." in await press(pilot, "enter")
        app.screen.query_one("#kind").value = "without"
        assert "10 wait" in await press(pilot, "enter")
        with_model(desk)
        desk.slow = 0.2
        await press(pilot, "n")
        await pilot.press("enter")
        await sees(pilot, "/10")
        await press(pilot, "s")
        waiting = len(desk.evals.review("xquad-es").waiting())
        assert 10 < waiting < 17
        assert f"{waiting} wait" in screen_text(app)


async def test_versions_are_listed_exported_and_split(tmp_path: Path) -> None:
    desk = FakeDesk()
    before = desk.evals.dataset("xquad-es")
    desk.evals.put("xquad-es", "regulations-2026", desk.evals.cases("xquad-es")[:9])
    app = app_on(desk)
    async with app.run_test(size=SMALL, notifications=True) as pilot:
        seen = await on_evals(pilot, "e")
        assert isinstance(app.screen, DatasetsScreen)
        assert "0009c0ffeec0" in seen
        assert "before" in seen
        await press(pilot, "down", "x")
        assert isinstance(app.screen, WriteDialog)
        app.screen.query_one("#format").value = "csv"
        await settle(pilot)
        assert app.screen.query_one("#path", Input).value == "xquad-es.csv"
        app.screen.query_one("#path", Input).value = str(tmp_path / "nowhere" / "x.csv")
        assert "There is no such folder." in await press(pilot, "enter")
        app.screen.query_one("#path", Input).value = str(tmp_path / "x.csv")
        await press(pilot, "enter")
        assert desk.evals.written == [("xquad-es", "x.csv", "csv", before.hash)]
        assert any("couldn't keep: gold, notes" in told.message for told in app._notifications)
        await press(pilot, "e", "s")
        assert isinstance(app.screen, ChoiceDialog)
        await press(pilot, "down", "enter")
        assert {d.name for d in desk.evals.datasets()} == {"xquad-es", "xquad-es-es", "xquad-es-en"}


async def test_review_and_datasets_speak_spanish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_LANG", "es")
    desk = FakeDesk()
    desk.evals.propose_unanswerable("xquad-es", 3)
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        seen = await on_evals(pilot, "v")
        assert "Revisar xquad-es ── 3 esperan · 0 aceptados" in seen
        assert "a acepta" in seen
        assert "Conjuntos y sus versiones" in await press(pilot, "escape", "e")
