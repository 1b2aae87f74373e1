"""What every test gets: no network, no colour surprises, and models where the machine has them."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from storage import open_store
from tests.embedders import one_embedding_process
from tests.stylesheets import parse_once
from workbench import i18n, paths
from workbench.demo import DEMO_COLLECTION, demo_folder
from workbench.desk import Desk
from workbench.records.corpus import IngestRequest

# How long an example takes tells of the machine's load alone. CI tries the same examples each time; a developer's
# machine goes on looking for new ones.
settings.register_profile("any", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", settings.get_profile("any"), derandomize=True)
settings.load_profile("same" if os.environ.get("CI") else "any")

paths.go_offline()
os.environ.setdefault("WORKBENCH_LANG", "en")
parse_once()


def pytest_collection_finish() -> None:
    """What is imported stays: without it, looking for garbage takes a third of the screens' tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


@pytest.fixture(autouse=True)
def environment() -> Iterator[None]:
    """Variables that a test's commands set for their process, and the language they chose, are gone after it."""
    before = dict(os.environ)
    i18n._chosen.clear()
    yield
    if os.environ != before:
        os.environ.clear()
        os.environ.update(before)


@pytest.fixture(scope="module")
def one_embedder() -> Iterator[None]:
    """For modules with several desks or commands that embed."""
    with one_embedding_process():
        yield


@pytest.fixture(scope="session")
def demo_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo collection, embedded once: tests work in a copy."""
    path = tmp_path_factory.mktemp("demo") / "demo.db"
    desk = Desk(open_store(path))
    for _ in desk.ingest(IngestRequest((str(demo_folder()),), DEMO_COLLECTION)):
        pass
    desk.close()
    return path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest come first: last of all, they would leave the other workers idle.

    Tests marked ``model`` are skipped, with the remedy, where the starter models are absent.
    """
    items.sort(key=lambda item: item.path.name != "test_xquad_floor.py")
    if (paths.gguf_folder() / paths.STARTER_MODEL).exists():
        return
    for item in items:
        if item.get_closest_marker("model"):
            item.add_marker(pytest.mark.skip(reason="needs the starter models: workbench starter"))
