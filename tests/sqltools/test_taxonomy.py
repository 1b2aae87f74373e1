"""Which part of a query is told to be the wrong one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from storage.fixture import FixtureRunner
from workbench.evals.measuring.scoring import make_report
from workbench.evals.reporting.markup import to_markdown
from workbench.evals.reporting.reports import report_page
from workbench.evals.tasks.checks import check
from workbench.records.answers import Manifest
from workbench.records.cases import Expectation
from workbench.records.evals import CaseResult, Run, RunConfig

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


def test_a_report_counts_what_is_wrong_in_queries(school: Path) -> None:
    gold = Expectation("sql", GOLD, fixture=str(school))
    told = [WRONG["wrong join"], WRONG["wrong filter"], WRONG["wrong filter"].replace("PENDING", "x"), GOLD]
    checked = [check(gold, sql, sql=FixtureRunner()) for sql in told]
    results = [
        CaseResult(1, str(n), n, one.passed, failure=one.failure, fault=one.fault) for n, one in enumerate(checked)
    ]
    manifest = Manifest("", "", 0, 0, "", "", "", "", "")
    run = Run(1, RunConfig("d", "model"), "", manifest, "complete", datetime.now(UTC), 4, 4)
    report = make_report(run, results, [])
    assert report.faults == {"wrong_filter": 2, "wrong_join": 1}
    page = to_markdown(report_page(report, results))
    assert "| wrong filter | 2 |" in page
    assert "| wrong join | 1 |" in page
