"""The tables of benchmarks."""

from __future__ import annotations

from typing import Final

BENCHMARKS: Final = """
CREATE TABLE bench (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    created TEXT NOT NULL,
    total INTEGER NOT NULL,
    plan TEXT NOT NULL,
    models TEXT NOT NULL,
    manifest TEXT NOT NULL
);
CREATE TABLE bench_sample (
    id INTEGER PRIMARY KEY,
    bench_id INTEGER NOT NULL REFERENCES bench (id) ON DELETE CASCADE,
    model INTEGER NOT NULL,
    test TEXT NOT NULL,
    repetition INTEGER NOT NULL,
    value REAL NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (bench_id, model, test, repetition)
);
"""
