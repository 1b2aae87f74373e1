from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from storage import open_store
from workbench.ports import Store
from workbench.sqltools import SqlTools

SCHOOL = """
CREATE TABLE alumnos (alumno_id INTEGER PRIMARY KEY, nombre TEXT NOT NULL, dni TEXT, campus TEXT);
CREATE TABLE pagos (pago_id INTEGER PRIMARY KEY, alumno_id INTEGER NOT NULL REFERENCES alumnos(alumno_id),
    campus TEXT, estado TEXT, importe REAL, moneda TEXT, fecha TEXT);
CREATE INDEX pagos_campus ON pagos (campus);
CREATE VIEW resumen AS SELECT campus, SUM(importe) AS total FROM pagos GROUP BY campus;
CREATE VIEW fichas AS SELECT nombre, dni FROM alumnos;
INSERT INTO alumnos VALUES (1,'Ana','1A','Norte'), (2,'Luis','2B','Norte'), (3,'Eva','3C','Centro');
INSERT INTO pagos VALUES (1,1,'Norte','pendiente',100,'EUR','2026-03-02 10:00'),
    (2,1,'Norte','pendiente',50,'EUR','2026-03-31 18:00'), (3,2,'Norte','pagado',70,'USD','2026-03-05 09:00'),
    (4,3,'Centro','pendiente',20,'EUR','2026-04-01 00:00'), (5,3,'Centro',NULL,NULL,'EUR','2026-03-03 12:00');
"""


@pytest.fixture
def school(tmp_path: Path) -> Path:
    path = tmp_path / "school.db"
    made = sqlite3.connect(path)
    made.executescript(SCHOOL)
    made.close()
    return path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "w.db")
    yield opened
    opened.close()


@pytest.fixture
def tools(store: Store) -> SqlTools:
    return SqlTools(store, lambda: None)
