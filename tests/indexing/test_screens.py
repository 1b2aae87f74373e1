"""The dialogs of indexes and of the re-chunk lab, on a real file."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from textual.widgets import Input

from screens.app import WorkbenchApp
from screens.corpus.indexes import IndexesScreen
from screens.corpus.lab import RechunkLab
from tests.indexing.conftest import NAME, Lab
from tests.screens.helpers import SMALL, WIDE, screen_text, sees, settle
from workbench.corpus.chunking import parse_recipe
from workbench.desk import Desk
from workbench.errors import UsageError
from workbench.records.cases import Case, GoldSpan

pytestmark = pytest.mark.usefixtures("one_embedder")


@pytest.fixture
def desk(lab: Lab) -> Iterator[Desk]:
    desk = Desk(lab.store)
    desk._embedders, desk._indexes = lab.embedders, lab.indexes
    cases = [Case(str(n), f"Which pump is in hall {n}?", gold=(GoldSpan(f"{n}.md", grade=3),)) for n in range(6)]
    lab.store.datasets.put("halls", NAME, cases)
    yield desk
    desk.close()


@pytest.mark.parametrize("size", [SMALL, WIDE])
async def test_an_index_is_built_compared_switched_to_and_gone_back_from(desk: Desk, size: tuple[int, int]) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("f2")
        await settle(pilot)
        await pilot.press("I")
        await settle(pilot)
        assert isinstance(app.screen, IndexesScreen)
        assert "questions meet it" in screen_text(app)
        await pilot.press("b")
        await settle(pilot)
        assert "16 · 512 tokens" in screen_text(app)
        await pilot.press("down", "enter")
        await settle(pilot)
        assert "signs, then int8" in screen_text(app)
        await pilot.press("enter")
        await settle(pilot)
        seen = screen_text(app)
        assert "Index 2 is built." in seen
        assert "other" in seen
        await pilot.press("down", "c")
        await settle(pilot)
        assert "6 questions" in screen_text(app)
        await pilot.press("enter")
        await settle(pilot)
        assert "Index 2 against 1 · halls · n = 6" in screen_text(app)
        await pilot.press("s")
        await settle(pilot)
        assert [s.index.id for s in desk.indexes.states(NAME)] == [2, 1]
        await pilot.press("u")
        await settle(pilot)
        assert [s.index.id for s in desk.indexes.states(NAME)] == [1, 2]


async def test_each_form_is_measured_before_it_is_chosen_and_an_index_is_dropped(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("f2")
        await settle(pilot)
        await pilot.press("I", "m")
        await sees(pilot, "Measure recall")
        app.screen.query_one("#recall-filter", Input).value = "tokens > 0"
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert "chunks stand in for questions · tokens > 0" in screen_text(app)
        assert "Recall_ANN against exact: 6 of 6 chunks stand in for questions" in screen_text(app)
        await pilot.press("b")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert "Recall_ANN@6 1.000" in screen_text(app)
        await pilot.press("down", "enter")
        await settle(pilot)
        assert "Index 2 is built." in screen_text(app)
        await pilot.press("e")
        assert "Nothing is wrong." in await sees(pilot, "16 · 512 tokens · 2 indexes")
        await pilot.press("escape", "end", "D")
        await settle(pilot)
        assert "Drop the index?" in screen_text(app)
        await pilot.press("y")
        await settle(pilot)
        assert [s.index.id for s in desk.indexes.states(NAME)] == [1]


async def test_the_lab_shows_what_a_typed_recipe_would_cut_and_builds_it(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("f2")
        await settle(pilot)
        await pilot.press("r")
        await settle(pilot)
        assert isinstance(app.screen, RechunkLab)
        assert "same 1" in screen_text(app)
        recipe = app.screen.query_one("#recipe", Input)
        recipe.value = "sentence:size=x"
        await settle(pilot)
        assert app.screen.query_one("#recipe-problem").render() != ""
        assert app.screen.query_one("#lab-panes").has_class("-stale"), "what is seen is the recipe's before"
        recipe.value = "sentence"
        await settle(pilot)
        seen = screen_text(app)
        assert "moved 1" in seen
        assert "It was built in 1990." in seen
        assert not app.screen.query_one("#lab-panes").has_class("-stale")
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert "Index 2 is built." in screen_text(app)
        assert [s.index.recipe.name for s in desk.indexes.states(NAME)] == ["structure", "sentence"]


async def test_what_a_typed_recipe_would_cut_is_awaited_in_so_many_words(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, preview = threading.Event(), desk.indexes.preview

    def slow(*asked: object) -> object:
        go_on.wait(60)
        return preview(*asked)  # type: ignore[arg-type]  # as they came

    monkeypatch.setattr(desk.indexes, "preview", slow)
    app = WorkbenchApp(desk)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("f2")
        await settle(pilot)
        await pilot.press("r")
        await pilot.pause()
        assert "cutting…" in screen_text(app)
        go_on.set()
        await settle(pilot)
        assert "cutting…" not in screen_text(app)
        assert "█  after" in screen_text(app)


async def test_at_80_columns_two_indexes_that_differ_by_their_recipe_are_told_apart(desk: Desk) -> None:
    list(desk.indexes.build(NAME, "", parse_recipe("sentence"), ""))
    app = WorkbenchApp(desk)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("f2")
        await settle(pilot)
        await pilot.press("I")
        await settle(pilot)
        rows = [line for line in screen_text(app).splitlines() if "float32" in line and "·" not in line]
        assert [("structure" in row, "sentence" in row) for row in rows] == [(True, False), (False, True)]


def test_a_comparison_without_questions_says_what_to_do_on_the_screen(desk: Desk) -> None:
    list(desk.indexes.build(NAME, "", parse_recipe("sentence"), ""))
    with pytest.raises(UsageError) as refused:
        list(desk.indexes.compare(1, 2, ""))
    assert "Ask it something first" in refused.value.remedy
    assert "--dataset" not in refused.value.remedy
