"""The Evals screen over the real desk: a real file, the real embedder, the demo's cases."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

import workbench
from screens.app import WorkbenchApp
from screens.evals.beside import BesideScreen
from screens.evals.launch import RunDialog
from screens.evals.proposing import OrderDialog
from screens.evals.screen import EvalsScreen
from screens.evals.sweeps import SweepDialog
from screens.widgets.grid import Grid
from storage import open_store
from tests.screens.helpers import WIDE, case_of, on_evals, press, screen_text, settle, type_text
from workbench import paths
from workbench.demo import DEMO_COLLECTION
from workbench.desk import Desk
from workbench.evals.measuring.standings import standings, verdict_of
from workbench.records.models import LoadSettings

DEMO = Path(workbench.__file__).parent / "demo"


@pytest.fixture
def desk(demo_file: Path, tmp_path: Path, one_embedder: None) -> Iterator[Desk]:
    desk = Desk(open_store(Path(shutil.copy(demo_file, tmp_path))))
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
    await settle(pilot)


@pytest.mark.model
async def test_a_models_questions_are_reviewed_join_the_dataset_and_a_sweep_runs_over_it(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        for _ in desk.library.load(str(paths.gguf_folder() / paths.STARTER_MODEL), LoadSettings(context=2048)):
            pass
        await on_evals(pilot, "v")
        assert isinstance(app.screen, OrderDialog)
        app.screen.query_one("#count", Input).value = "4"
        await press(pilot, "enter")
        await settle(pilot)
        queue = desk.evals.review(DEMO_COLLECTION)
        waiting = queue.waiting()
        assert waiting, "a small model asks something useful about one of four chunks"
        (gold,) = waiting[0].case.gold
        seen = " ".join(screen_text(app).split())
        assert f"Review {DEMO_COLLECTION} ── {len(waiting)} wait" in seen
        assert gold.source_id in seen
        await press(pilot, *["a"] * len(waiting), "u", "escape")
        await settle(pilot)
        assert len(queue.waiting()) == 1
        kept = [candidate.case for candidate in queue.all() if candidate.state == "accepted"]
        desk.evals.import_file(str(DEMO / "cases.jsonl"), "cases")
        assert list(desk.evals.cases(DEMO_COLLECTION)) == kept

        assert isinstance(app.screen, EvalsScreen)
        app.screen.show_place("cases")
        await settle(pilot)
        await press(pilot, "S")
        assert isinstance(app.screen, SweepDialog)
        app.screen.query_one("#variable").value = "lane"
        await settle(pilot)
        await press(pilot, "ctrl+s")
        await settle(pilot)
        assert isinstance(app.screen, BesideScreen)
        assert [run.config.title for run in desk.evals.runs("cases")] == ["lane=both", "lane=dense", "lane=lexical"]
        assert all(run.status == "complete" for run in desk.evals.runs("cases"))
        found = standings([desk.evals.report(run.id) for run in reversed(desk.evals.runs("cases"))], "recall")
        assert verdict_of(found)[:60] in screen_text(app)
