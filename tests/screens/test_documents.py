"""Documents on the Corpus screen: looked at, searched, retired and deleted, one or several."""

from __future__ import annotations

import re
import time

from screens.corpus.delete import DeleteDialog
from screens.dialogs import PassageDialog
from screens.widgets.grid import Grid
from screens.widgets.passage import Passage
from tests.screens.fake_desk import FakeDesk
from tests.screens.helpers import WIDE, app_on, on_corpus, screen_text, sees, settle, type_text


async def test_corpus_goes_from_document_to_chunk_to_the_lit_source() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await on_corpus(pilot)
        await pilot.press("down", "down", "down", "down")
        await settle(pilot)
        seen = screen_text(app)
        assert "Chunks ── 3" in seen
        assert "Rules › Art. 12 Enrolment" in seen
        await pilot.press("[")  # the last tab, by going backwards
        await settle(pilot)
        seen = screen_text(app)
        assert "vector norm 1.000" in seen
        assert re.search(r"roles +student, registry", seen)
        await pilot.press("enter", "down", "o")
        await settle(pilot)
        assert isinstance(app.screen, PassageDialog)
        passage = app.screen.query_one(Passage)
        assert passage._words[passage._start : passage._end].startswith("La ampliación de matrícula")


async def test_a_truncated_chunk_and_a_warning_are_marked_in_words_too() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await on_corpus(pilot)
        app.screen.query_one("#documents-grid", Grid).go_to("d-manual/lighthouse.docx")
        await settle(pilot)
        await pilot.press("enter", "down")
        await settle(pilot)
        assert "✂ the embedder does not see its end" in screen_text(app)
        await pilot.press("[")
        await settle(pilot)
        seen = screen_text(app)
        assert "✂ the embedder does not see its end" in seen
        assert "~ 2 pages have no text" in seen


async def test_deleting_asks_and_shows_the_proof() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await on_corpus(pilot)
        await pilot.press("D")
        await pilot.pause()
        assert isinstance(app.screen, DeleteDialog)
        await pilot.press("enter")  # the harmless answer has the focus
        await settle(pilot)
        assert len(desk.documents()) == 6
        await pilot.press("D", "y")
        await settle(pilot)
        assert len(desk.documents()) == 5
        seen = screen_text(app)
        assert "Deleted and checked" in seen
        assert "✓ the dense lane cannot find it" in seen


async def test_a_document_is_retired_and_restored() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await on_corpus(pilot)
        await pilot.press("R")
        await settle(pilot)
        assert desk.documents()[0].status == "retired"
        assert "◦  calendar.csv" in screen_text(app)
        await pilot.press("R")
        await settle(pilot)
        assert desk.documents()[0].status == "current"


async def test_slash_searches_a_list_and_escape_shows_all_again() -> None:
    app = app_on(FakeDesk(copies=20))
    async with app.run_test(size=WIDE) as pilot:
        await on_corpus(pilot)
        await pilot.press("slash")
        await type_text(pilot, "0007")
        seen = screen_text(app)
        assert "1/26" in seen
        assert "notes/0007.md" in seen
        assert "calendar.csv" not in seen, "the chunks are those of the document found"
        await pilot.press("escape")
        await settle(pilot)
        assert "calendar.csv" in screen_text(app)


async def test_a_hundred_thousand_rows_are_drawn_without_a_wait() -> None:
    from screens.widgets.grid import Row

    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await on_corpus(pilot)
        grid = app.screen.query_one("#documents-grid", Grid)
        rows = [Row(str(n), ("✓", f"document {n}", "en", "1")) for n in range(100_000)]
        began = time.perf_counter()
        grid.show(rows)
        grid.action_move(99_999)
        await pilot.pause()
        assert time.perf_counter() - began < 5  # not a measurement: drawing every row would take a minute
        assert "document 99999" in screen_text(app)


# -- several documents at once, and what is said of them ---------------------------------------------------------------


async def test_marked_documents_are_retired_and_deleted_together() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await on_corpus(pilot)
        await pilot.press("space", "space")
        await settle(pilot)
        assert "── ▪ 2" in screen_text(app)
        await pilot.press("R")
        await settle(pilot)
        assert [d.status for d in desk.documents()] == ["retired", "retired"] + ["current"] * 4
        await pilot.press("D")
        await pilot.pause()
        seen = screen_text(app)
        assert "Delete 2 documents?" in seen
        assert "Otherwise they keep the passages they showed." in seen
        assert "y yes · n no" in seen
        await pilot.press("y")
        await settle(pilot)
        assert len(desk.documents()) == 4
        await pilot.press("escape")
        await settle(pilot)
        assert "▪" not in screen_text(app)


async def test_after_a_delete_the_cursor_stays_in_its_place() -> None:
    app = app_on(FakeDesk(copies=9))
    async with app.run_test(size=WIDE) as pilot:
        await on_corpus(pilot)
        grid = app.screen.query_one("#documents-grid", Grid)
        await pilot.press("down", "down", "down", "down", "down", "D", "y")
        await settle(pilot)
        assert grid.cursor == 5


async def test_a_search_without_a_match_says_so_and_not_that_there_is_nothing() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await on_corpus(pilot)
        await pilot.press("slash")
        await type_text(pilot, "no such thing")
        seen = screen_text(app)
        assert "0/6" in seen
        assert "No row holds what is searched for" in seen
        assert "No documents yet" not in seen
        await pilot.press("escape")
        await settle(pilot)
        await pilot.press("tab")
        await pilot.press("slash")
        await type_text(pilot, "no such thing")
        await settle(pilot)
        assert "No chunk passes" in screen_text(app)
        await pilot.press("escape", "f1")
        await sees(pilot, "architecture")
        await pilot.press("slash")
        await type_text(pilot, "no such thing")
        await settle(pilot)
        seen = screen_text(app)
        assert "No row holds what is searched for" in seen
        assert "architecture" not in seen, "no card of a file that isn't chosen"


async def test_another_collection_is_shown_unsearched() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await on_corpus(pilot)
        await pilot.press("slash")
        await type_text(pilot, "faq")
        await pilot.press("enter")
        desk.choose_collection("faro")
        app.changed()
        await settle(pilot)
        assert "faro ── 6" in screen_text(app)


async def test_coming_back_to_corpus_shows_what_another_workbench_changed() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await on_corpus(pilot)
        await pilot.press("f1")
        desk.delete_documents([desk.documents()[0].id])
        await pilot.press("f2")
        await settle(pilot)
        assert "regulations-2026 ── 5" in screen_text(app)
