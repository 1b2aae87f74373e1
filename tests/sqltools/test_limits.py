"""What a person limits queries to: a name that isn't there, or a condition that opens, lets nothing out."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.errors import UsageError, WorkbenchError
from workbench.records.sql import Policy
from workbench.sqltools import SqlTools

NORTE = "campus = 'Norte'"
HOSTILE = [
    "campus = 'Norte') OR (1 = 1",
    "1 = 1) UNION SELECT * FROM alumnos WHERE (1 = 1",
    "1 = 1 UNION SELECT * FROM alumnos",
    "1 = 1 --",
    "1 = 1) --",
    "1 = 1) OR 1 /*",
    "1 /* ) OR (1 */",
    "1 = 1; SELECT * FROM alumnos",
    "1); SELECT (1",
    "'",
    "1 OR '",
    '"',
    "`",
    "[",
    "1 THEN 1 WHEN 1",
    "1 END) OR (CASE WHEN 1 THEN 1",
    "1 ORDER BY 1",
    "1) LIMIT (9",
    "1 GROUP BY 1",
    "SELECT 1",
    "EXISTS (SELECT 1 FROM alumnos)",
    "alumno_id IN alumnos",
    "alumno_id IN (SELECT alumno_id FROM alumnos)",
    "pago_id IN (SELECT total FROM resumen)",
    "alumnos.dni = '1A'",
    "dni = '1A'",
    "\"campsu\" <> 'Norte'",
    "?",
    ":a",
    "1, 1",
    "",
    "1\0",
]
MEANT = [
    "campus = 'Norte' == 1",  # what a parser of another dialect may group otherwise
    "NOT campus = 'Norte'",
    "pago_id & 1 = 1",
    "1 < 2 = pago_id",
    "-pago_id < -2 AND importe ISNULL OR estado NOTNULL",
    "campus GLOB 'N*' AND fecha NOT LIKE '%\\_%' ESCAPE '\\'",
    "importe IS NOT DISTINCT FROM NULL",
    "campus || 'x' = 'Nortex' COLLATE NOCASE",
    "rowid IN (1, 4) -- and no other",
    "pagos.pago_id = (SELECT max(pago_id) FROM pagos)",
    "[campus] = 'Norte' OR \"estado\" IS NULL",
]
TRUE_OF_EVERY_ROW = ("1 = 1 --", "1 /* ) OR (1 */")
FRAGMENTS = st.sampled_from(
    ["(", ")", "'", '"', "`", "[", "]", "--", "/*", "*/", ";", "\n", "OR", "AND", "NOT", "1 = 1", "campus", "<>", "||",
     "CASE WHEN", "THEN 1", "END", "UNION SELECT * FROM pagos", "SELECT 1", "IN", "FROM pagos", "NULL", ",", "1"]
)  # fmt: skip


@pytest.mark.parametrize(
    ("policy", "there"),
    [
        (Policy(hidden=frozenset({"alumnos.dnii"})), "alumnos.dni,"),
        (Policy(hidden=frozenset({"alumnos"})), "alumnos.dni,"),
        (Policy(hidden=frozenset({"nix.dni"})), "pagos.campus"),
        (Policy(tables=frozenset({"alumnoss"})), "alumnos, fichas, pagos, resumen"),
        (Policy(filters={"pago": (NORTE,)}), "alumnos, fichas, pagos, resumen"),
        (Policy(filters={"pagos": ("canpus = 'Norte'",)}), "campus"),
    ],
)
def test_a_limit_on_what_isnt_there_is_refused_with_what_there_is(
    tools: SqlTools, school: Path, policy: Policy, there: str
) -> None:
    with pytest.raises(UsageError) as refused:
        tools.check("SELECT dni FROM alumnos", school, policy)
    assert there in refused.value.remedy


def test_names_count_in_any_case(tools: SqlTools, school: Path) -> None:
    policy = Policy(frozenset({"ALUMNOS"}), frozenset({"Alumnos.DNI"}), filters={"Pagos": (NORTE,)})
    assert tools.check("SELECT nombre FROM alumnos", school, policy).accepted
    assert not tools.check("SELECT dni FROM alumnos", school, policy).accepted


def test_a_condition_that_is_more_than_one_opens_nothing(tools: SqlTools, school: Path) -> None:
    for condition in HOSTILE:
        for both in ((NORTE, condition), (condition, NORTE)):
            policy = Policy(filters={"pagos": both}, rewrite=True)
            try:
                rows = tools.run(tools.check("SELECT campus FROM pagos", school, policy), school, policy).rows
            except UsageError:
                continue
            assert condition in TRUE_OF_EVERY_ROW
            assert rows == (("Norte",),) * 3


def test_a_full_text_index_tells_nothing_of_what_is_held_back(tools: SqlTools, school: Path) -> None:
    made = sqlite3.connect(school)
    made.executescript(
        "CREATE VIRTUAL TABLE buscar USING fts5(nombre, dni, content=alumnos, content_rowid=alumno_id);"
        "CREATE VIRTUAL TABLE copia USING fts5(nombre, dni); INSERT INTO copia SELECT nombre, dni FROM alumnos;"
        "CREATE VIEW dentro AS SELECT c1 FROM copia_content;"
        "INSERT INTO buscar (buscar) VALUES ('rebuild');"
    )
    made.close()
    hidden, only = Policy(hidden=frozenset({"alumnos.dni"})), Policy(filters={"alumnos": ("campus = 'Norte'",)})
    for sql in (
        "SELECT dni FROM buscar",
        "SELECT snippet(buscar, 1, '', '', '', 9) FROM buscar",
        "SELECT nombre FROM copia WHERE copia MATCH '1A'",
        "SELECT c1 FROM copia_content",
        "SELECT * FROM 'copia_content'",
        "SELECT * FROM dentro",
        "SELECT hex(block) FROM copia_data",
    ):
        assert not any(tools.check(sql, school, policy).accepted for policy in (hidden, only)), sql
    assert tools.check("SELECT nombre FROM alumnos, json_each('[1]')", school, hidden).accepted
    assert tools.check("SELECT nombre FROM copia", school, Policy(frozenset({"copia"}), hidden.hidden)).accepted
    assert not tools.check("SELECT c1 FROM copia_content", school, Policy(frozenset({"copia"}))).accepted
    with pytest.raises(UsageError, match="virtual table"):
        tools.check("SELECT 1", school, Policy(hidden=frozenset({"copia.dni"})))


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(FRAGMENTS, max_size=8).map(" ".join), st.booleans())
def test_whatever_one_condition_says_the_other_holds(tools: SqlTools, school: Path, wild: str, first: bool) -> None:
    policy = Policy(filters={"pagos": (wild, NORTE) if first else (NORTE, wild)}, rewrite=True)
    try:
        found = tools.run(tools.check("SELECT * FROM pagos", school, policy), school, policy).rows
    except WorkbenchError:
        return
    assert not any("Centro" in row for row in found)


def test_a_condition_means_what_it_means_to_the_engine(tools: SqlTools, school: Path) -> None:
    for condition in MEANT:
        policy = Policy(filters={"pagos": (condition,)}, rewrite=True)
        with sqlite3.connect(school) as plain:
            meant = plain.execute(f"SELECT pago_id FROM pagos WHERE {condition}\nORDER BY 1").fetchall()
        plain.close()
        verdict = tools.check("SELECT pago_id FROM pagos ORDER BY 1", school, policy)
        assert tools.run(verdict, school, policy).rows == tuple(meant)


HELD_VALUES = """
CREATE TABLE gente (id INTEGER PRIMARY KEY, nombre, clave, vista AS (clave || '!'), fija AS (vista || '?') STORED);
CREATE TABLE "a.b" (clave, copia AS (clave));
CREATE TABLE precios (neto, iva, total AS (neto + iva), campus);
CREATE INDEX por_clave ON gente (clave || '#');
CREATE VIEW nombres AS SELECT nombre FROM gente;
CREATE VIEW claves AS SELECT fija FROM gente;
CREATE VIEW unidas AS SELECT clave FROM gente NATURAL FULL JOIN (SELECT NULL AS clave);
CREATE VIEW por_encima AS SELECT * FROM unidas;
CREATE VIEW con_nombre AS WITH q AS (SELECT id, nombre FROM gente) SELECT * FROM q;
CREATE VIEW por_dentro AS SELECT * FROM con_nombre;
CREATE VIEW cuantas AS WITH q AS (SELECT nombre FROM gente NATURAL JOIN (SELECT 'secret1' AS clave))
    SELECT count(*) AS n FROM q;
CREATE VIRTUAL TABLE copia USING fts5(clave);
CREATE VIEW de_copia AS WITH q AS (SELECT c0 FROM copia_content) SELECT * FROM q;
CREATE VIEW muestras AS SELECT sample FROM sqlite_stat4;
INSERT INTO gente (nombre, clave) VALUES ('Ana', 'secret1'), ('Luis', 'secret2');
INSERT INTO "a.b" VALUES ('secret3');
ANALYZE;
"""


def test_no_way_round_tells_a_hidden_value(tools: SqlTools, tmp_path: Path) -> None:
    file = tmp_path / "held.db"
    made = sqlite3.connect(file)
    made.executescript(HELD_VALUES)
    made.close()
    policies = (Policy(hidden=frozenset({"gente.clave", "a.b.clave"})), Policy(hidden=frozenset({"Gente.CLAVE"})))
    only = Policy(filters={"gente": ("0",)})
    ways = (
        "SELECT clave FROM gente NATURAL FULL JOIN (SELECT NULL AS clave)",
        "SELECT clave FROM gente natural/**/left join (SELECT 'secret1' AS clave)",
        "SELECT c.clave FROM (SELECT 'secret1' AS clave) AS c JOIN gente USING (clave)",
        "WITH c AS (SELECT 'secret1' AS clave) SELECT nombre FROM gente JOIN c USING (clave)",
        "SELECT count(*) FROM gente WHERE EXISTS (SELECT 1 FROM gente NATURAL JOIN (SELECT 'secret1' AS clave))",
        "SELECT vista FROM gente",
        "SELECT fija FROM gente",
        "SELECT * FROM claves",
        "SELECT * FROM unidas",
        "SELECT * FROM por_encima",
        "SELECT clave || '#' FROM gente ORDER BY clave || '#'",
        "SELECT nombre FROM gente ORDER BY clave",
        "SELECT max(nombre) OVER (PARTITION BY clave) FROM gente",
        "SELECT value FROM gente, json_each(json_array(clave))",
        "SELECT (1, 'Ana', 'secret1', 'secret1!', 'secret1!?') IN gente",
        "SELECT sample FROM sqlite_stat4",
        "SELECT stat FROM sqlite_stat1",
        "SELECT * FROM muestras",
        "SELECT count(*) FROM cuantas",
        "SELECT nombre FROM gente WHERE 1 IN 'cuantas'",
        "SELECT * FROM de_copia",
    )
    for sql in ways:
        assert not any(tools.check(sql, file, policy).accepted for policy in policies), sql
    assert not tools.check('SELECT copia FROM "a.b"', file, policies[0]).accepted
    views = ("con_nombre", "por_dentro", "'por_dentro'", "main.[con_nombre]", "nombres", "unidas")
    for sql in (
        *(f"SELECT {what} FROM {view}" for view in views for what in ("*", "count(*)")),
        "SELECT sql FROM sqlite_schema NATURAL FULL JOIN (SELECT NULL AS sql)",
    ):
        assert not tools.check(sql, file, only).accepted
    assert not tools.check(ways[0], file, Policy(frozenset({"nombres"}))).accepted
    assert tools.check("SELECT * FROM por_dentro", file, Policy(filters={"precios": ("0",)})).accepted
    for sql in (
        "SELECT nombre FROM gente",
        "SELECT * FROM nombres",
        "SELECT * FROM por_dentro",
        "SELECT 'using natural' FROM gente -- using",
    ):
        assert tools.check(sql, file, policies[0]).accepted, sql
    assert tools.check("SELECT total FROM precios", file, Policy(hidden=frozenset({"precios.campus"}))).accepted
    assert tools.check("SELECT * FROM unidas", file, Policy(frozenset({"unidas"}))).accepted
