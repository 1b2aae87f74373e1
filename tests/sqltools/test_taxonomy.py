"""Which part of a query is told to be the wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest

from storage.fixture import FixtureRunner
from workbench.evals.tasks.checks import check
from workbench.records.cases import Expectation

GOLD = (
    "SELECT a.campus, COUNT(DISTINCT a.alumno_id) FROM alumnos a JOIN pagos p ON p.alumno_id = a.alumno_id "
    "WHERE p.estado = 'pendiente' AND p.fecha < '2026-04-01' GROUP BY a.campus ORDER BY 2 DESC"
)
WRONG = {
    "wrong table": "SELECT campus, COUNT(*) FROM alumnos GROUP BY campus",
    "wrong column": GOLD.replace("p.fecha", "p.paid_at"),
    "wrong join": GOLD.replace("ON p.alumno_id = a.alumno_id", "ON p.pago_id = a.alumno_id"),
    "wrong filter": GOLD.replace("p.estado = 'pendiente'", "p.estado = 'PENDING'"),
    "wrong aggregate": GOLD.replace("COUNT(DISTINCT a.alumno_id)", "COUNT(*)"),
    "wrong grouping": GOLD.replace("GROUP BY a.campus", "GROUP BY a.nombre, p.pago_id"),
    "wrong shape": GOLD.replace("SELECT a.campus, ", "SELECT ").replace(" ORDER BY 2 DESC", ""),
    "not executable": GOLD.replace("ORDER BY 2", "ORDER BY date_trunc('month', fecha)"),
    "not allowed": "DELETE FROM pagos",
}


@pytest.mark.parametrize("fault", WRONG)
def test_the_part_that_is_wrong_is_named(school: Path, fault: str) -> None:
    checked = check(Expectation("sql", GOLD, fixture=str(school)), WRONG[fault], sql=FixtureRunner())
    assert not checked.passed
    assert checked.reason.startswith(f"{fault}: ")


def test_order_alone_and_aliases(school: Path) -> None:
    gold = Expectation("sql", "SELECT nombre FROM alumnos ORDER BY nombre", fixture=str(school), ordered=True)
    assert check(gold, "SELECT x.nombre FROM alumnos AS x ORDER BY x.nombre", sql=FixtureRunner()).passed
    turned = check(gold, "SELECT nombre FROM alumnos ORDER BY nombre DESC", sql=FixtureRunner())
    assert turned.reason.startswith("wrong order: ")
