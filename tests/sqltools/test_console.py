"""The console on real files: schema, limits, cancelling, reading while something writes, history, exports."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from sqlite_utils.utils import sqlite3  # the reader's own: locks of two libraries in one process don't meet

from tests.cli.conftest import Cli, cli
from workbench.errors import Cancelled, FileError, QueryError
from workbench.ports import Store
from workbench.records.sql import Policy, QueryResult, SqlHistory
from workbench.sqltools import SqlTools
from workbench.sqltools.exporting import as_text
from workbench.sqltools.validator import ORDER, explanation

__all__ = ["cli"]


def test_the_schema_tells_keys_and_rows(tools: SqlTools, school: Path) -> None:
    pagos = tools.schema(school).table("PAGOS")
    assert pagos is not None
    assert pagos.rows == 5
    key, student = pagos.columns[0], pagos.column("alumno_id")
    assert key.unique
    assert student is not None
    assert (student.references, student.not_null, student.unique) == ("alumnos.alumno_id", True, False)
    assert any("pagos_campus (campus)" in index for index in pagos.indexes)


def test_nine_controls_each_with_its_name(tools: SqlTools, school: Path) -> None:
    verdict = tools.check("SELECT campus FROM pagos", school)
    assert tuple(control.name for control in verdict.controls) == ORDER
    assert len(ORDER) == 9


def test_a_limit_is_put_in_and_what_it_leaves_out_is_told(tools: SqlTools, school: Path) -> None:
    policy = Policy(rows=3, rewrite=True)
    for sql in ("SELECT * FROM pagos", "SELECT * FROM pagos -- all", "SELECT * FROM pagos LIMIT 5",
                "SELECT * FROM pagos LIMIT -1", "SELECT 1 UNION ALL SELECT importe FROM pagos"):  # fmt: skip
        found = tools.run(tools.check(sql, school, policy), school, policy)
        assert (len(found.rows), found.cut) == (3, "rows"), sql
    whole = Policy(rows=5, rewrite=True)
    assert tools.run(tools.check("SELECT * FROM pagos", school, whole), school, whole).cut == ""


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT pago_id FROM pagos ORDER BY 1 LIMIT 1 + 1", ((1,), (2,))),
        ("SELECT pago_id FROM pagos ORDER BY 1 LIMIT (SELECT count(*) FROM alumnos) - 1 OFFSET 1", ((2,), (3,))),
        ("SELECT CAST('2026-03-02' AS DATE), CAST('12' AS NUMERIC), typeof(CAST('12' AS DECIMAL(5, 2)))",
         ((2026, 12, "integer"),)),
    ],
)  # fmt: skip
def test_a_limit_on_reading_changes_no_result(tools: SqlTools, school: Path, sql: str, rows: object) -> None:
    policy = Policy(hidden=frozenset({"alumnos.dni"}), rewrite=True)
    assert tools.run(tools.check(sql, school, policy), school, policy).rows == rows


def test_own_rows_stand_in_brackets_and_under_any_name(tools: SqlTools, school: Path) -> None:
    policy = Policy(filters={"pagos": ("campus = 'Norte'",)}, rewrite=True)
    joined = 'FROM alumnos AS a LEFT JOIN (pagos AS "order" JOIN alumnos AS b ON b.alumno_id = "order".alumno_id)'
    verdict = tools.check(
        f'SELECT count("order".pago_id), count(*) {joined} ON a.alumno_id = b.alumno_id', school, policy
    )
    assert tools.run(verdict, school, policy).rows == ((3, 4),)


def test_rows_are_cut_where_nothing_is_rewritten(tools: SqlTools, school: Path) -> None:
    policy = Policy(rows=2)
    found = tools.run(tools.check("SELECT * FROM pagos", school, policy), school, policy)
    assert (len(found.rows), found.cut) == (2, "rows")


def test_only_sums_come_out(tools: SqlTools, school: Path) -> None:
    policy = Policy(aggregate=True)
    assert tools.check("SELECT campus, SUM(importe) FROM pagos GROUP BY campus", school, policy).accepted
    for told in ("max(importe) - min(importe)", "total(importe)", "count(*) FILTER (WHERE importe > 50)",
                 "round(avg(importe), 2)", "'n = ' || count(DISTINCT estado)"):  # fmt: skip
        assert tools.check(f"SELECT {told} FROM pagos", school, policy).accepted, told
    for told in ("nombre", "*", "group_concat(nombre)", "string_agg(nombre, ',')", "json_group_array(nombre)",
                 "json_group_object(dni, nombre)", "max(nombre)", "min(dni)", "max(nombre, dni)", "count(*) || nombre",
                 "count(*) || json_group_array(nombre)", "first_value(nombre) OVER ()", "sum(alumno_id) OVER ()",
                 "(SELECT nombre FROM alumnos LIMIT 1) || count(*)"):  # fmt: skip
        assert not tools.check(f"SELECT {told} FROM alumnos", school, policy).accepted, told
    assert not tools.check("SELECT COUNT(*) FROM pagos UNION ALL SELECT nombre FROM alumnos", school, policy).accepted
    assert not tools.check("SELECT dni AS nombre, count(*) FROM alumnos GROUP BY nombre", school, policy).accepted
    with sqlite3.connect(school) as made:
        made.execute("ALTER TABLE alumnos ADD COLUMN n")
    made.close()
    assert not tools.check("SELECT count(*) || n'a' FROM alumnos", school, policy).accepted
    assert not tools.check("SELECT count(*) + (N'a' > 1) FROM alumnos LIMIT 1", school, policy).accepted


def test_another_dialect_is_refused_with_the_engines_word(tools: SqlTools, school: Path) -> None:
    refused = tools.check("SELECT date_trunc('month', fecha) FROM pagos", school)
    assert "date_trunc" in refused.refusal.lower()


def test_a_scan_of_too_many_rows_is_refused_before_it_runs(tools: SqlTools, school: Path) -> None:
    assert not tools.check("SELECT * FROM pagos AS p WHERE estado = 'x'", school, Policy(scan=4)).accepted
    assert tools.check("SELECT * FROM pagos WHERE campus = 'Norte'", school, Policy(scan=4)).accepted


def test_an_explanation_says_only_what_came_out(tools: SqlTools, school: Path) -> None:
    result = QueryResult(("campus", "total"), (("Norte", 220.0),), 1.0)
    schema = tools.schema(school)
    assert explanation("Norte has 220.", result, schema).state == "kept"
    assert explanation("Norte has 221.", result, schema).state == "refused"
    assert explanation("By alumno_id, Norte has 220.", result, schema).state == "refused"


def test_it_can_be_stopped(tools: SqlTools, school: Path) -> None:
    stop = threading.Event()
    stop.set()
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    with pytest.raises(Cancelled):
        tools.run(tools.check(endless, school), school, Policy(), stop)


def test_the_own_file_is_read_while_it_is_written(tools: SqlTools, store: Store) -> None:
    began, go_on = threading.Event(), threading.Event()

    def writing(connection: object) -> None:
        connection.execute("INSERT INTO setting (key, value) VALUES ('t', '1')")  # type: ignore[attr-defined]  # the driver's
        began.set()
        assert go_on.wait(60)

    writer = threading.Thread(target=lambda: store.sql and store._connections.write(writing))  # type: ignore[attr-defined]  # the file's own writer
    writer.start()
    assert began.wait(60)
    sql = "SELECT count(*) FROM setting WHERE key = 't'"
    during = tools.run(tools.check(sql), None, Policy()).rows
    go_on.set()
    writer.join(60)
    assert (during, tools.run(tools.check(sql), None, Policy()).rows) == (((0,),), ((1,),))


def test_a_file_that_somebody_is_changing_is_waited_for_and_said_to_be_locked(tools: SqlTools, school: Path) -> None:
    writer = sqlite3.connect(school, isolation_level=None)
    writer.executescript("BEGIN EXCLUSIVE; DELETE FROM alumnos")
    with pytest.raises(FileError, match="Another program is writing") as caught:
        tools.schema(school)
    assert caught.value.title == "The file is locked"
    writer.execute("ROLLBACK")
    writer.close()
    assert tools.run(tools.check("SELECT COUNT(*) FROM alumnos", school), school, Policy()).rows == ((3,),)


def test_what_the_engine_does_not_understand_is_no_query_rather_than_forbidden(tools: SqlTools, school: Path) -> None:
    for sql, title in (("SELECT x FROM pagos", "Not a query"), ("DROP TABLE pagos", "Not allowed")):
        with pytest.raises(QueryError) as caught:
            tools.run(tools.check(sql, school), school, Policy())
        assert caught.value.title == title


def test_another_file_is_read_where_there_is_no_workbench_file(cli: Cli, school: Path, tmp_path: Path) -> None:
    missing = tmp_path / "none.db"
    found = cli("--db", missing, "sql", "--on", school, "SELECT COUNT(*) AS n FROM alumnos")
    assert (found.code, found.out.split()) == (0, ["n", "3"])
    assert "1 row in" in found.err
    assert not missing.exists()
    assert cli("--db", missing, "sql", "SELECT 1").code == 1


def test_the_history_keeps_each_query_once(tools: SqlTools) -> None:
    for sql in ("SELECT 1", "SELECT 2", "SELECT 1"):
        tools.remember(sql)
    assert tools.history() == ("SELECT 1", "SELECT 2")
    tools.forget()
    assert tools.history() == SqlHistory().queries


def test_exports_hold_nulls_blobs_and_names_that_repeat() -> None:
    result = QueryResult(("a", "a"), (("x,\n", None), (b"\x01", 2.5)), 1.0)
    assert as_text(result, "csv") == "a,a\n\"x,\n\",\nX'01',2.5\n"
    assert json.loads(as_text(result, "json")) == [{"a": "x,\n", "a_2": None}, {"a": "X'01'", "a_2": 2.5}]
