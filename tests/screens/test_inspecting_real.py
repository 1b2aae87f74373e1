"""Looking closer on the real desk: the real embedder, the real model, the demo collection."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import workbench
from screens.app import WorkbenchApp
from screens.ask.stagelist import walk_stages
from screens.ask.story import read_story
from screens.widgets.grid import Grid
from storage import open_store
from tests.screens.helpers import LARGE, screen_text
from tests.screens.test_inspecting import ask, press
from workbench import paths
from workbench.desk import Desk
from workbench.records.answers import AskOptions
from workbench.records.corpus import IngestRequest
from workbench.records.models import LoadSettings
from workbench.records.retrieval import SearchOptions

DEMO = Path(workbench.__file__).parent / "demo" / "faro" / "en"
QUESTION = "How much is the fine for a lost book?"

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, one_embedder: None) -> Path:
    path = tmp_path_factory.mktemp("made") / "lab.db"
    desk = Desk(open_store(path))
    for _ in desk.ingest(IngestRequest((str(DEMO),), "faro")):
        pass
    desk.close()
    return path


@pytest.fixture
def desk(made: Path, tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(open_store(Path(shutil.copy(made, tmp_path))))
    yield desk
    desk.close()


def page(desk: Desk, trace_id: str, key: str) -> str:
    stages = walk_stages(read_story(desk, desk.trace(trace_id)))
    return next(stage for stage in stages if stage.key == key).page(100).text


async def test_lanes_tokens_and_token_pairs_of_a_search(desk: Desk) -> None:
    *_, trace = desk.ask(QUESTION, search=SearchOptions(rerank="late"))
    analysis = page(desk, trace.id, "analysis")
    assert "“query: ”" in analysis
    assert "False" not in page(desk, trace.id, "query")
    assert "│lost│book│" in analysis
    assert "by cosine" in page(desk, trace.id, "dense")
    reranked = page(desk, trace.id, "rerank")
    assert "nearest in the passage" in reranked
    assert "book" in reranked.partition("nearest in the passage")[2]


async def test_what_if_turns_a_lane_off_without_embedding_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        await ask(pilot, QUESTION)
        await press(pilot, "w")
        monkeypatch.setattr(desk, "_open_embedder", lambda: pytest.fail("the embedder was asked"))
        app.screen.query_one("#switches", Grid).go_to("dense_k")
        for _ in range(8):
            await press(pilot, "left")
        seen = screen_text(app)
        assert "◆ off" in seen
        assert "gone" in seen
        await press(pilot, "r")
        assert "evidence: the same" in screen_text(app)
        await press(pilot, "escape")
        monkeypatch.undo()


def test_a_models_prompt_is_shown_to_the_letter_with_its_ledger(desk: Desk) -> None:
    model = paths.gguf_folder() / paths.STARTER_MODEL
    for _ in desk.library.load(str(model), LoadSettings(context=2048)):
        pass
    *_, trace = desk.ask(QUESTION, AskOptions(threshold=0.0, evidence=2, max_output=48))
    prompt = page(desk, trace.id, "prompt")
    assert "<|im_start|>" in prompt
    assert QUESTION in prompt
    for part in ("instructions", "evidence", "question", "reserve for the answer", "window"):
        assert part in prompt
    assert " ≤ 2,048" in prompt
    assert "to the letter" in page(desk, trace.id, "generation")
