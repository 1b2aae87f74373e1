"""Hostile queries: held by the validator, and by the engine's authorizer alone."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from workbench.errors import WorkbenchError
from workbench.ports import Store
from workbench.records.sql import Policy, QueryLimits
from workbench.sqltools import SqlTools

WRITING = [
    "DELETE FROM pagos",
    "DROP TABLE pagos",
    "UPDATE pagos SET importe = 0",
    "INSERT INTO pagos (pago_id) VALUES (9)",
    "REPLACE INTO pagos (pago_id) VALUES (1)",
    "CREATE TABLE x (a)",
    "CREATE TEMP TABLE x (a)",
    "CREATE VIEW x AS SELECT 1",
    "CREATE TRIGGER x AFTER INSERT ON pagos BEGIN DELETE FROM pagos; END",
    "CREATE VIRTUAL TABLE x USING fts5(a)",
    "ALTER TABLE pagos ADD COLUMN x",
    "ATTACH DATABASE '/tmp/other.db' AS other",
    "DETACH DATABASE main",
    "VACUUM",
    "VACUUM INTO '/tmp/copy.db'",
    "REINDEX",
    "ANALYZE",
    "BEGIN",
    "COMMIT",
    "SAVEPOINT x",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA writable_schema = ON",
    "PRAGMA query_only = OFF",
    "PRAGMA user_version = 7",
    "PRAGMA wal_checkpoint",
    "PRAGMA mmap_size = 0",
    "PRAGMA temp_store_directory = '/tmp'",
    "SELECT 1; DROP TABLE pagos",
    "SELECT 1;; DELETE FROM pagos",
    "SELECT 1 /* ; */ ; DELETE FROM pagos --",
    "WITH a AS (SELECT 1) DELETE FROM pagos",
    "WITH a AS (SELECT 1) INSERT INTO pagos (pago_id) SELECT 77",
    "/* SELECT */ DELETE FROM pagos",
    "SELECT load_extension('/tmp/evil.so')",
    "SELECT fts3_tokenizer('simple')",
    "SELECT zeroblob(900000000)",
    "SELECT randomblob(900000000)",
    "SELECT hex(zeroblob(400000000))",
    "EXPLAIN DELETE FROM pagos",
    "SELECT * FROM pragma_journal_mode('DELETE')",
    "SELECT 1 INTO OUTFILE '/tmp/x'",
    "SELECT ?",
    "SELECT :a",
    "",
    ";",
    "SELECT 1\0; DROP TABLE pagos",
    "SELECT " + "1+" * 20_000 + "1",
    "\u202eSELECT 1",
]
BEYOND = [
    "SELECT dni FROM alumnos",
    "SELECT * FROM alumnos",
    "SELECT a.* FROM pagos p JOIN alumnos a USING (alumno_id)",
    'SELECT "DNI" FROM [alumnos]',
    "SELECT nombre FROM alumnos WHERE dni LIKE '1%'",
    "SELECT nombre FROM alumnos ORDER BY dni",
    "SELECT COUNT(DISTINCT dni) FROM alumnos",
    "SELECT * FROM fichas",
    "SELECT (SELECT dni FROM alumnos LIMIT 1) FROM pagos",
    "WITH resumen AS (SELECT dni AS total FROM alumnos) SELECT total FROM resumen",
    "SELECT total FROM (SELECT dni AS total FROM alumnos) AS resumen",
    "SELECT estado FROM pagos UNION SELECT dni FROM alumnos",
    "SELECT name, sql FROM sqlite_master",
    "SELECT name FROM pragma_table_info('alumnos')",
    "PRAGMA table_info(alumnos)",
    "SELECT a.campus FROM alumnos AS a NATURAL JOIN fichas",
    "SELECT 1 WHERE '1A' IN (SELECT dni FROM alumnos)",
]
LIMITED = Policy(frozenset({"pagos", "alumnos", "resumen"}), frozenset({"alumnos.dni"}), 100, 1.5, rewrite=True)


@pytest.mark.parametrize("sql", WRITING)
def test_nothing_is_written_attached_or_loaded(tools: SqlTools, store: Store, school: Path, sql: str) -> None:
    before = hashlib.sha256(school.read_bytes()).hexdigest()
    assert not tools.check(sql, school).accepted
    with pytest.raises(WorkbenchError):  # and the engine alone, with no parser before it
        store.sql.run(school, sql, QueryLimits(10, 2.0))
    with pytest.raises(WorkbenchError):
        store.sql.run(None, sql.replace("pagos", "collection"), QueryLimits(10, 2.0))
    assert hashlib.sha256(school.read_bytes()).hexdigest() == before
    assert not list(school.parent.glob("school.db-*"))


@pytest.mark.parametrize("sql", BEYOND)
def test_nothing_beyond_the_policy_is_read(tools: SqlTools, school: Path, sql: str) -> None:
    verdict = tools.check(sql, school, LIMITED)
    assert not verdict.accepted, verdict.sql
    assert verdict.sql == ""


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT campus FROM pagos",
        "SELECT DISTINCT campus FROM main.pagos AS x",
        'SELECT campus FROM "PAGOS" UNION ALL SELECT campus FROM [pagos]',
        "SELECT p.campus FROM pagos p JOIN pagos q ON p.campus <> q.campus OR 1",
        "SELECT (SELECT group_concat(campus) FROM pagos)",
        "SELECT campus FROM pagos WHERE 0 OR 1 --",
        "WITH a AS (SELECT campus FROM pagos) SELECT campus FROM a",
    ],
)
def test_only_the_persons_own_rows_come_out(tools: SqlTools, school: Path, sql: str) -> None:
    policy = Policy(filters={"pagos": ("campus = 'Norte'",)}, rewrite=True)
    verdict = tools.check(sql, school, policy)
    assert verdict.accepted, verdict.refusal
    assert "Centro" not in str(tools.run(verdict, school, policy).rows)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM resumen",
        "WITH pagos AS (SELECT 1 AS campus) SELECT * FROM pagos",
        "SELECT 1 WHERE (1,1,1,1,1,1,1) IN pagos",
    ],
)
def test_own_rows_are_not_reached_around(tools: SqlTools, school: Path, sql: str) -> None:
    assert not tools.check(sql, school, Policy(filters={"pagos": ("campus = 'Norte'",)}, rewrite=True)).accepted


def test_an_endless_query_ends(tools: SqlTools, school: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    policy = Policy(seconds=0.05)
    with pytest.raises(WorkbenchError, match=r"more than 0\.05 s"):
        tools.run(tools.check(endless, school, policy), school, policy)


def test_a_width_that_fills_the_memory_is_refused(tools: SqlTools, school: Path) -> None:
    assert not tools.check("SELECT printf('%999999999d', 1)", school).accepted
    assert not tools.check("SELECT format('%.*f', 900000000, 1)", school).accepted
    assert tools.check("SELECT printf('%.2f', importe) FROM pagos", school).accepted
