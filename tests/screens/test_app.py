"""What every screen shares: keys and help, errors, quitting, themes, language, the top line."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, cast

import pytest
from textual.binding import Binding
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

import screens
import themes
from screens.app import AGAIN, LANGUAGE, THEME, WorkbenchApp, run
from screens.dialogs import ConfirmDialog, ErrorDialog
from screens.help import HelpScreen, declared, joined
from screens.ingest import IngestDialog, IngestScreen
from screens.style import plain
from screens.widgets.keys import key_name
from screens.widgets.top import top_line
from screens.work import Job
from tests.screens.fake_desk import FakeDesk
from tests.screens.helpers import SMALL, WIDE, app_on, screen_text, sees, settle, type_text, until
from workbench import i18n
from workbench.errors import EngineError, MissingModelError
from workbench.i18n import catalogue

MODES = {"1": "models", "2": "corpus", "3": "ask", "4": "evals"}


async def test_help_lists_every_binding_of_screen_app_and_focus() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=(120, 200)) as pilot:
        for mode in MODES.values():
            await app.action_mode(mode)
            await settle(pilot)
            beneath = app.screen
            await pilot.press("alt+h")
            await settle(pilot)
            assert isinstance(app.screen, HelpScreen)
            seen = screen_text(app)
            focused = beneath.focused
            assert focused is not None
            for kind in (WorkbenchApp, type(beneath), type(focused)):
                for binding, keys in joined(b for b in declared(kind) if b.key not in {"ctrl+c,super+c"}):
                    assert binding.description in seen
                    assert any(key in seen for key in keys.split("  "))  # one may be taken by something nearer
            await pilot.press("escape")


def test_every_key_has_a_description_an_id_and_spanish_words() -> None:
    spanish = catalogue("es")
    for kind in _own_classes():
        for binding in declared(kind):
            assert binding.description, (kind, binding)
            assert binding.id, (kind, binding)
            for words in filter(None, (binding.description, binding.tooltip)):
                assert words in spanish, words


@pytest.mark.parametrize("kind", [Input, Widget, Screen])
def test_keys_that_textual_describes_have_spanish_words(kind: type) -> None:
    missing = [b.description for b in declared(kind) if isinstance(b, Binding) and b.description not in catalogue("es")]
    assert missing == []


def _own_classes() -> list[type]:
    from screens import app, ask, corpus, dialogs, ingest, models
    from screens.evals import decide, gates, launch, plots, rerun, screen
    from screens.widgets import grid, passage

    modules = (app, ask, corpus, dialogs, ingest, models, grid, passage, decide, gates, launch, plots, rerun, screen)
    found = {k for m in modules for k in vars(m).values() if isinstance(k, type) and "BINDINGS" in k.__dict__}
    return [k for k in found if k.__module__.startswith("screens")]


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("f1", "F1"),
        ("ctrl+p", "^p"),
        ("question_mark", "?"),
        ("alt+f", "alt+f"),
        ("alt+left", "alt+←"),
        ("shift+r", "R"),
    ],
)
def test_keys_are_written_as_people_write_them(key: str, name: str) -> None:
    assert key_name(key) == name


async def test_an_error_becomes_a_dialog_with_cause_and_remedy_and_the_app_lives_on() -> None:
    desk = FakeDesk()
    desk.fail_ingest = MissingModelError("No embedder", "There is no model in /models.", "Run: workbench starter")
    app = app_on(desk)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("alt+i")
        await settle(pilot)
        await type_text(pilot, "pyproject.toml")
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert isinstance(app.screen, ErrorDialog)
        seen = screen_text(app)
        for words in ("✗ No embedder", "There is no model in /models.", "→ Run: workbench starter"):
            assert words in seen
        await pilot.press("escape")
        await pilot.press("escape")
        await pilot.press("f2")
        assert app.current_mode == "corpus"


async def test_an_engine_error_shows_the_last_log_lines() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        app.show_error(EngineError("The engine ended", "Signal 6: abort.", log=("ggml: [bad] epsilon",)))
        await settle(pilot)
        assert "ggml: [bad] epsilon" in screen_text(app)


async def test_an_unexpected_exception_in_a_worker_is_told_not_fatal() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        app.jobs.read(app, lambda: 1 // 0, lambda _: None)
        await settle(pilot)
        assert "ZeroDivisionError" in screen_text(app)
        app.jobs.read(app, lambda: 1 // 0, lambda _: None)
        await settle(pilot)
        assert len(app.screen_stack) == 2, "the same error is not told twice at once"


async def test_the_status_is_read_by_one_worker() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("f1", "f2", "f3")
        await settle(pilot)
        assert [job.kind for job in app.jobs._running] == ["watch"]


@pytest.mark.parametrize(("named", "expected"), [("", "es"), ("en", "en")])
def test_the_remembered_language_holds_unless_one_is_named(
    named: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(i18n, "_chosen", [])
    monkeypatch.setenv("WORKBENCH_LANG", named)
    monkeypatch.setattr(WorkbenchApp, "run", lambda self: 0)
    desk = FakeDesk()
    desk.settings[LANGUAGE] = "es"
    assert run(cast(Any, desk)) == 0
    assert i18n.language() == expected


async def test_quit_asks_only_while_work_is_running() -> None:
    app = app_on(FakeDesk(slow=0.3))
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await _start_ingest(pilot, app)
        await pilot.press("ctrl+q")
        await pilot.pause()
        assert isinstance(app.screen, ConfirmDialog)
        assert "ingest" in screen_text(app)
        await pilot.press("escape")
        await pilot.pause()
        assert app.jobs.works
        await pilot.press("x")
        await settle(pilot)
        assert not app.jobs.works
        await pilot.press("ctrl+q")
        await pilot.pause()
        assert app.return_value == 0


async def test_ctrl_c_stops_the_work_and_twice_quits() -> None:
    app = app_on(FakeDesk(slow=0.3))
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await _start_ingest(pilot, app)
        await pilot.press("ctrl+c")
        await settle(pilot)
        assert not app.jobs.works
        assert app.ingest is not None
        assert app.ingest.progress is not None
        assert app.ingest.progress.cancelled
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert app.return_value == 0


async def _start_ingest(pilot: object, app: WorkbenchApp) -> None:
    await pilot.press("alt+i")
    await settle(pilot)
    await type_text(pilot, "pyproject.toml")
    await pilot.press("ctrl+s")
    await until(pilot, lambda: isinstance(app.screen, IngestScreen))


async def test_ingest_checks_what_it_is_given_then_reports_each_failure() -> None:
    app = app_on(FakeDesk(empty=True))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("alt+i")
        await settle(pilot)
        assert isinstance(app.screen, IngestDialog)
        await type_text(pilot, "nowhere.md")
        await pilot.press("ctrl+s")
        assert "There is no “nowhere.md”." in screen_text(app)
        app.screen.query_one("#paths", Input).value = "pyproject.toml"
        app.screen.query_one("#meta", Input).value = "year"
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert isinstance(app.screen, IngestDialog), "metadata without a value is refused"
        app.screen.query_one("#meta", Input).value = "year=2026"
        await pilot.press("ctrl+s")
        await settle(pilot)
        seen = await sees(pilot, "12/12")
        assert "11 added   1 failed" in seen
        assert "docs/3.pdf" in seen
        assert "The PDF is locked. Save it without a password." in seen
        await pilot.press("escape")
        await settle(pilot)
        assert "Nothing to ask of yet." not in screen_text(app)


async def test_the_theme_is_remembered_and_every_theme_draws() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        for theme in themes.THEMES:
            app.choose_theme(theme.name)
            await settle(pilot)
            assert app.current_theme.name == theme.name
            assert desk.settings[THEME] == theme.name


def test_themes_are_two_dark_one_light_one_high_contrast() -> None:
    assert [t.dark for t in themes.THEMES] == [True, True, False, True]
    assert themes.CONTRAST.background == "#000000"
    assert themes.CONTRAST.foreground == "#ffffff"


async def test_no_color_means_none_and_the_cursor_is_still_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = app_on(FakeDesk())
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("f2")
        await settle(pilot)
        segments = [s for strip in app.screen._compositor.render_strips(app.size) for s in _filtered(app, strip)]
        styles = {segment.text: segment.style for segment in segments if segment.style}
        assert all(style.color is None or style.color.is_default for style in styles.values())
        assert any(style.reverse for text, style in styles.items() if "calendar.csv" in text)


def _filtered(app: WorkbenchApp, strip: Strip) -> Strip:
    for line_filter in app._filters:
        if line_filter.enabled:
            strip = strip.apply_filter(line_filter, app.screen.background_colors[1])
    return strip


async def test_choosing_a_language_starts_the_screens_anew_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(i18n, "_chosen", [])
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        app.choose_language("es")
        await until(pilot, lambda: app.return_value == AGAIN)  # an app that ends hears no more of its last job
    assert desk.settings[LANGUAGE] == "es"
    i18n.choose_language("es")
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "library")
        await pilot.press("enter")
        await settle(pilot)
        seen = screen_text(app)
        for words in ("Preguntar", "Clasificación", "Respuesta", "respondida", "sin red", "Ayuda", "léxica"):
            assert words in seen
        for words in ("Ranking", "Answer", "offline", "Help", "lexical"):
            assert words not in seen


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_the_top_line_fits_and_keeps_what_matters(width: int) -> None:
    status = FakeDesk().status()
    job = Job("load Qwen2.5-Coder-1.5B-Instruct.Q4_K_M.gguf", "work", detail="40 %")
    for works in ((), (job,)):
        line = top_line(status, works, width)
        assert line.cell_length <= width
        assert "⌁ offline" in line.plain
        assert ("40 %" in line.plain) == bool(works)


def test_no_screen_calls_the_desk_on_the_ui_thread() -> None:
    """Every ``desk.`` call stands in a lambda, or in a function that only a worker runs (named read…)."""
    workers = {"_call_search", "_statuses", "run", "_view", "view_of", "write_report", "store", "call", "_call", "work"}
    workers |= {"_searched", "_suggest", "preview", "proposed", "_weigh"}
    for path in Path(screens.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            reads = isinstance(node, ast.FunctionDef) and node.name.startswith(("read", "_read"))
            if isinstance(node, ast.FunctionDef) and not reads and node.name not in workers:
                calls = [
                    call for call in _direct_calls(node) if "evals.review(" not in ast.unparse(call)
                ]  # reads nothing
                assert not calls, (path.name, node.name)


def _direct_calls(node: ast.AST) -> list[ast.Call]:
    found: list[ast.Call] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Lambda | ast.FunctionDef):
            continue
        if isinstance(child, ast.Call) and "desk." in ast.unparse(child.func) and "jobs" not in ast.unparse(child.func):
            found.append(child)
        found += _direct_calls(child)
    return found


def test_plain_text_of_a_line_is_all_of_it() -> None:
    assert plain(("a", ("b", ("c", "d")))) == "abcd"
