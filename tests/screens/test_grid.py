"""The table draws only the lines that changed: what is in sight is what drawing all of it shows."""

from __future__ import annotations

import random

from textual.app import App, ComposeResult

from screens.style import Tone
from screens.widgets.grid import Column, Grid, Row


class Table(App[None]):
    def compose(self) -> ComposeResult:
        yield Grid([Column("a", 6), Column("b", 0, fit=True), Column("c", 0, fold=True)], marks=True)

    def get_css_variables(self) -> dict[str, str]:
        return {**super().get_css_variables(), "quiet": "grey"}

    def lines(self) -> list[str]:
        return ["".join(segment.text for segment in strip) for strip in self.screen._compositor.render_strips()]

    def same_as_drawn_anew(self, grid: Grid) -> bool:
        seen = self.lines()
        grid._drawn.clear()
        grid.refresh()
        return seen == self.lines()


async def test_marks_of_rows_that_went_are_not_left_behind() -> None:
    app = Table()
    async with app.run_test(size=(40, 12)) as pilot:
        grid = app.query_one(Grid)
        grid.focus()
        grid.show([Row(key, ("1", "as before", "")) for key in "ab"])
        await pilot.press("space", "up")
        assert "▪" in "".join(app.lines())
        grid.show([Row(key, ("1", "as before", "")) for key in "cd"])
        await pilot.pause()
        assert "▪" not in "".join(app.lines())


async def test_a_marked_row_keeps_its_sign() -> None:
    app = Table()
    async with app.run_test(size=(40, 12)) as pilot:
        grid = app.query_one(Grid)
        grid.focus()
        grid.show([Row("a", (("◦", Tone.DIM), "retired", "")), Row("b", ("1", "another", ""))])
        await pilot.press("space")
        await pilot.pause()
        assert "◦     ▪ retired" in "".join(app.lines())
        assert "1       another" in "".join(app.lines())


async def test_rows_cursor_and_scrolling_hold_through_any_change() -> None:
    chance, app = random.Random(7), Table()
    async with app.run_test(size=(40, 12)) as pilot:
        grid = app.query_one(Grid)
        grid.focus()
        for _ in range(60):
            match chance.choice(["show", "show", "ranked", "search", "key", "key"]):
                case "search":
                    grid.search(chance.choice(["", "1", "t", "nowhere"]))
                case "key":
                    await pilot.press(chance.choice(["down", "up", "pagedown", "pageup", "home", "end", "space"]))
                case how:
                    keys = chance.sample(range(60), chance.choice([0, 1, 9, 10, 11, 12, 50]))
                    rows = [Row(str(k), (str(k % 7), "t" * (k % 5), "c" * (len(keys) > 9))) for k in keys]
                    grid.show(rows, ranked=how == "ranked")
            await pilot.pause()
            top, height = grid.scroll_offset.y, grid.size.height - 1
            assert app.same_as_drawn_anew(grid)
            assert not grid.rows or top <= grid.cursor < top + height
            assert top <= max(0, len(grid.rows) - height)
            assert grid.show_vertical_scrollbar == (len(grid.rows) > height)
