"""Export and snapshots from the Corpus screen, on a real file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from textual.widgets import Input

from screens.app import WorkbenchApp
from screens.corpus.export import ExportDialog
from screens.corpus.snapshots import SnapshotsDialog
from storage import open_store
from tests.exchange.conftest import Bench, receive
from tests.exchange.contents import contents
from tests.library import NAME
from tests.screens.helpers import SMALL, WIDE, screen_text, sees, settle
from workbench.desk import Desk
from workbench.records.exchange import ExportRequest

pytestmark = pytest.mark.usefixtures("one_embedder")


@pytest.fixture
def desk(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.chdir(bench.folder)
    bench.store.close()
    desk = Desk(open_store(bench.folder / "library.db"))
    desk.choose_collection(NAME)
    yield desk
    desk.close()


async def test_marked_documents_are_exported_by_key(bench: Bench, desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await app.action_mode("corpus")
        await settle(pilot)
        await pilot.press("space", "x")
        await settle(pilot)
        assert isinstance(app.screen, ExportDialog)
        assert "1 marked documents of library" in screen_text(app)
        await pilot.press("enter")
        await settle(pilot)
        assert "documents.jsonl" in screen_text(app)
    assert receive(bench.other(), bench.folder / f"{NAME}-export").added == 1


async def test_a_folder_that_is_there_is_said_in_the_dialog(bench: Bench, desk: Desk) -> None:
    (bench.folder / "taken").mkdir()
    app = WorkbenchApp(desk)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await app.action_mode("corpus")
        await settle(pilot)
        await pilot.press("x")
        await settle(pilot)
        app.screen.query_one("#export-folder", Input).value = "taken"
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert isinstance(app.screen, ExportDialog)
        assert "There is something of that name" in screen_text(app)
    assert not list((bench.folder / "taken").iterdir())


async def test_a_snapshot_is_taken_restored_and_deleted_by_key(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await app.action_mode("corpus")
        await settle(pilot)
        await pilot.press("X")
        await settle(pilot)
        await pilot.press("t", "o", "n", "e", "enter")
        await settle(pilot)
        seen = screen_text(app)
        assert "one" in seen
        assert "it keeps what was" in seen
        await pilot.press("escape")
        await settle(pilot)
        await pilot.press("D")
        await sees(pilot, "Snapshots keep what they hold: “one”.")
        await pilot.press("y")
        await settle(pilot)
        assert "Snapshots keep what they hold: “one”. X lists them" in screen_text(app)
        assert len(desk.documents()) == 2
        await pilot.press("escape", "X")
        await settle(pilot)
        await pilot.press("r", "y")
        await settle(pilot)
        assert len(desk.documents()) == 3
        assert "before restoring" in screen_text(app)
        assert isinstance(app.screen, SnapshotsDialog)
        names = [snapshot.name for snapshot in desk.exchange.snapshots()]
        await pilot.press("D", "y")
        await settle(pilot)
        assert len(desk.exchange.snapshots()) == len(names) - 1
        await pilot.press("escape")
        await settle(pilot)
        assert "enrolment.md" in screen_text(app)


async def test_a_collection_is_moved_to_another_file(bench: Bench, desk: Desk) -> None:
    before = contents(bench.store)
    app = WorkbenchApp(desk)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await app.act("corpus", "move")
        await sees(pilot, "library to another file")
        await pilot.press("down", "down", "enter")
        await sees(pilot, "Nothing is removed")
        app.screen.query_one("#move-file", Input).value = "moved.db"
        await pilot.press("enter")
        await sees(pilot, "Moved and checked")
        assert desk.collections() == ()
    assert contents(bench.other("moved.db")) == before


async def test_an_export_comes_in_under_another_name(bench: Bench, desk: Desk) -> None:
    folder = bench.folder / "out"
    list(desk.exchange.export(ExportRequest(NAME, str(folder))))
    app = WorkbenchApp(desk)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await app.act("corpus", "import")
        await sees(pilot, "The folder that an export made.")
        app.screen.query_one("#path", Input).value = str(folder)
        await pilot.press("enter")
        await sees(pilot, "3 documents of “library”")
        app.screen.query_one("#import-name", Input).value = "copy"
        await pilot.press("enter")
        await sees(pilot, "copy: 3 documents came in")
    assert [c.name for c in desk.collections()] == ["copy", NAME]
