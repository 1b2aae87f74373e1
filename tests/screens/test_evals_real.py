"""The Evals screen over the real desk: a real file, the real embedder, the demo's cases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

import workbench
from screens.app import WorkbenchApp
from screens.evals.launch import RunDialog
from screens.widgets.grid import Grid
from storage import open_store
from tests.screens.helpers import WIDE, screen_text, settle, type_text
from tests.screens.test_evals import case_of, on_evals, press
from workbench.desk import Desk
from workbench.records.corpus import IngestRequest

DEMO = Path(workbench.__file__).parent / "demo"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(open_store(tmp_path / "lab.db"))
    for _ in desk.ingest(IngestRequest((str(DEMO / "faro"),), "faro")):
        pass
    yield desk
    desk.close()


@pytest.mark.model
async def test_from_an_import_to_a_comparison_of_two_runs(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await on_evals(pilot, "i")
        await type_text(pilot, str(DEMO / "cases.jsonl"))
        await press(pilot, "enter", "escape")
        (dataset,) = desk.evals.datasets()
        assert f"cases · {dataset.cases} cases" in screen_text(app)

        await run_with(app, pilot, lanes="lexical", title="bm25")
        await press(pilot, "b")
        await run_with(app, pilot, lanes="both", title="hybrid")
        newest, oldest = desk.evals.runs()
        assert (newest.status, newest.done, oldest.done) == ("complete", dataset.cases, dataset.cases)
        assert newest.config.search.lanes == ("lexical", "dense")
        seen = screen_text(app)
        assert f"{newest.id} hybrid against {oldest.id} bm25" in seen
        compared = desk.evals.compare(oldest.id, newest.id)
        assert f"{len(compared.fixed)} fixed, {len(compared.broken)} broken" in seen

        app.screen.query_one("#runs-grid", Grid).go_to(f"{oldest.id}/{dataset.name}")
        await settle(pilot)
        failed = [r.case_id for r in desk.evals.results(oldest.id) if r.passed is False]
        assert failed, "BM25 alone doesn't put every gold passage first"
        await press(pilot, "n")
        assert case_of(app).split(" ")[0] in failed
        await press(pilot, "minus")
        await type_text(pilot, "the words differ")
        await press(pilot, "enter")
        assert [label.note for label in desk.evals.labels(oldest.id)] == ["the words differ"]
        await press(pilot, "ctrl+z")
        assert desk.evals.labels(oldest.id) == ()


async def run_with(app: WorkbenchApp, pilot: Pilot[int], lanes: str, title: str) -> None:
    """Starts a retrieval run from its dialog and waits until it has ended."""
    await press(pilot, "R")
    assert isinstance(app.screen, RunDialog)
    app.screen.query_one("#layer").value = "retrieval"
    app.screen.query_one("#lanes").value = lanes
    app.screen.query_one("#title", Input).value = title
    app.screen.query_one("#k", Input).value = "1"
    await press(pilot, "ctrl+s")
    for _ in range(30):
        await settle(pilot)
        if app.jobs.idle:
            break
