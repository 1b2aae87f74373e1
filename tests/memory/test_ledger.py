"""The ledger of loads in the file."""

from __future__ import annotations

from pathlib import Path

from storage import open_store
from workbench.records.models import LoadSettings, MemoryMeasurement, MemorySplit


def test_loads_are_kept_in_the_file_newest_first(tmp_path: Path) -> None:
    def entry(context: int) -> MemoryMeasurement:
        predicted, measured = MemorySplit(1, 2, 3, 4), MemorySplit(5, 6, 7, 8)
        return MemoryMeasurement("llama", "/x.gguf", LoadSettings(context, kv_type="q4_0"), predicted, measured)

    store = open_store(tmp_path / "lab.db")
    store.models.add_measurement(entry(2048))
    store.models.add_measurement(entry(8192))
    store.close()
    store = open_store(tmp_path / "lab.db")
    assert store.models.measurements() == (entry(8192), entry(2048))
    store.close()
