"""Each trap of the linter with a query that falls into it and one that doesn't."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.sqltools import SqlTools

TRAPS = {
    "fan_out": (
        "SELECT COUNT(*) FROM alumnos a JOIN pagos p ON p.alumno_id = a.alumno_id",
        "SELECT COUNT(*) FROM pagos p JOIN alumnos a ON p.alumno_id = a.alumno_id",
    ),
    "closed_range": (
        "SELECT estado FROM pagos WHERE fecha >= '2026-03-01' AND fecha <= '2026-03-31'",
        "SELECT estado FROM pagos WHERE fecha >= '2026-03-01' AND fecha < '2026-04-01'",
    ),
    "not_equal_state": (
        "SELECT fecha FROM pagos WHERE estado != 'pagado'",
        "SELECT fecha FROM pagos WHERE estado = 'x'",
    ),
    "late_filter": (
        "SELECT campus, COUNT(*) FROM pagos GROUP BY campus HAVING campus = 'Norte'",
        "SELECT campus, COUNT(*) AS n FROM pagos GROUP BY campus HAVING n > 1",
    ),
    "null_skipped": ("SELECT AVG(importe) FROM pagos GROUP BY moneda", "SELECT AVG(pago_id) FROM pagos"),
    "null_compared": ("SELECT fecha FROM pagos WHERE estado = NULL", "SELECT fecha FROM pagos WHERE estado IS NULL"),
    "not_in_nulls": (
        "SELECT nombre FROM alumnos WHERE campus NOT IN (SELECT campus FROM pagos)",
        "SELECT nombre FROM alumnos WHERE campus IN (SELECT campus FROM pagos)",
    ),
    "mixed_currency": (
        "SELECT SUM(importe) FROM pagos",
        "SELECT moneda, SUM(importe) FROM pagos GROUP BY moneda",
    ),
    "arbitrary_row": ("SELECT campus, COUNT(*) FROM pagos", "SELECT campus, COUNT(*) FROM pagos GROUP BY campus"),
    "no_order": ("SELECT campus FROM pagos LIMIT 3", "SELECT campus FROM pagos ORDER BY fecha LIMIT 3"),
    "no_join_condition": (
        "SELECT nombre FROM alumnos, pagos",
        "SELECT nombre FROM alumnos a, pagos p WHERE a.alumno_id = p.alumno_id",
    ),
    "whole_division": (
        "SELECT COUNT(estado) / COUNT(*) FROM pagos",
        "SELECT 1.0 * COUNT(estado) / COUNT(*) FROM pagos",
    ),
}


@pytest.mark.parametrize("rule", TRAPS)
def test_a_trap_is_found_and_the_better_form_is_not_one(tools: SqlTools, school: Path, rule: str) -> None:
    wrong, right = TRAPS[rule]
    found = [f for f in tools.check(wrong, school).findings if f.rule == rule]
    assert found
    assert found[0].why
    assert found[0].better
    assert rule not in [f.rule for f in tools.check(right, school).findings]


def test_the_question_tells_entities_from_events(tools: SqlTools, school: Path) -> None:
    sql = "SELECT COUNT(*) FROM pagos WHERE estado = 'pendiente'"
    found = tools.check(sql, school, question="¿Cuántos alumnos tienen algo pendiente?").findings
    assert [f.better for f in found] == ["COUNT(DISTINCT alumno_id)"]
    assert not tools.check(sql, school, question="¿Cuántos pagos hay?").findings


def test_the_better_range_holds_what_the_closed_one_lost(tools: SqlTools, school: Path) -> None:
    wrong = "SELECT COUNT(*) FROM pagos WHERE fecha BETWEEN '2026-03-01' AND '2026-03-31'"
    (finding,) = tools.check(wrong, school).findings
    assert finding.better == "fecha >= '2026-03-01' AND fecha < '2026-04-01'"
