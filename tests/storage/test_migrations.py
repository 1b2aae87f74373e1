"""From every older shape of the file to the newest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from storage import open_store
from storage.driver import Connection, connect
from storage.migrations import MIGRATIONS, Migration, migrate, version
from workbench.records.answers import Answer, Citation, Claim
from workbench.records.cases import Case
from workbench.records.codec import decode, encode
from workbench.records.corpus import Recipe
from workbench.records.evals import CaseResult


def schema(path: Path) -> list[tuple[str, str]]:
    connection = connect(path, "write")
    rows: list[tuple[str, str]] = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
    connection.close()
    return rows


@pytest.mark.parametrize("done", range(1, len(MIGRATIONS) + 1))
def test_every_older_shape_opens_and_becomes_the_newest(tmp_path: Path, done: int) -> None:
    path, fresh = tmp_path / "older.db", tmp_path / "fresh.db"
    older = connect(path, "create")
    migrate(older, path, MIGRATIONS[:done])
    older.execute("INSERT INTO collection (name, recipe, created) VALUES ('kept', '{}', '2026-01-01T00:00:00+00:00')")
    older.close()
    open_store(fresh).close()
    store = open_store(path)
    before_tokens = done < [m.name for m in MIGRATIONS].index("0007_token_vectors") + 1
    assert store.corpus.collection("kept").recipe == Recipe(token_vectors="none" if before_tokens else "bits")
    assert store.datasets.put("set", "kept", [Case("1", "Why?")]).cases == 1
    store.close()
    assert schema(path) == schema(fresh)


def test_chunks_of_an_older_file_end_on_the_page_where_their_text_does(tmp_path: Path) -> None:
    path = tmp_path / "older.db"
    older = connect(path, "create")
    migrate(older, path, MIGRATIONS[: [m.name for m in MIGRATIONS].index("0010_page_ends")])
    pages = [{"type": "Page", "number": n, "label": str(n), "start": 10 * n, "end": 10 * n + 9} for n in range(3)]
    older.execute("INSERT INTO collection (id, name, recipe, created) VALUES (1, 'c', '{}', '2026-01-01')")
    older.execute("INSERT INTO corpus_index VALUES (1, 1, 'f', '{}', '{}', 'current', '2026-01-01', NULL)")
    older.execute(
        "INSERT INTO document (key, id, collection_id, source_id, uri, title, media_type, language, status, hash, "
        "metadata_hash, characters, metadata, warnings, ingested) "
        "VALUES (1, 'd', 1, 'd', '', '', '', '', 'current', '', '', 30, '{}', '[]', '2026-01-01')"
    )
    older.execute("INSERT INTO document_text VALUES (1, 'x', ?, '{}')", (json.dumps({"pages": pages}),))
    for number, (page, end) in enumerate([(0, 9), (0, 25), (None, 9)]):
        older.execute(
            "INSERT INTO chunk (index_id, document_key, id, ordinal, start, end, header, path, section, kind, page, "
            "page_label, language, tokens, tiktoken_tokens, truncated, hash, metadata, heading, text, stems, exact) "
            "VALUES (1, 1, ?, 0, 0, ?, '', '[]', '', 'paragraph', ?, '', '', 1, 1, 0, '', '{}', '', '', '', '')",
            (str(number), end, page),
        )
    older.close()
    store = open_store(path)
    assert [c.page_end for c in store.corpus.chunks_by_id(["0", "1", "2"])] == [0, 2, None]
    store.close()


def test_quotations_in_an_older_file_are_found_and_taken_out(tmp_path: Path) -> None:
    path = tmp_path / "older.db"
    older = connect(path, "create")
    migrate(older, path, MIGRATIONS[: [m.name for m in MIGRATIONS].index("0012_quotations")])
    quote = Citation("F1", "c", "d", "d.txt", "", ("Pay",), None, "", 0, 9, "A salary.")
    claim = Claim("A salary. [F1]", (quote,), 1.0, "supported")
    answer = Answer("answered", "extractive", "A salary. [F1]", (claim,), (), 1.0, 0.5, "en")
    result = json.dumps(encode(CaseResult(1, "1", 0, None, answer=answer)))
    older.execute(
        "INSERT INTO eval_run (id, dataset, dataset_hash, config, manifest, status, created, total) "
        "VALUES (1, 's', '', '{}', '{}', 'complete', '', 1)"
    )
    older.execute(
        "INSERT INTO eval_result (run_id, case_id, position, failure, trace_id, ranked, body) "
        "VALUES (1, '1', 0, '', '', '[]', ?)",
        (result,),
    )
    older.close()
    store = open_store(path)
    assert [(check.quoted, check.redacted) for check in store.corpus.delete_documents(["d", "e"])] == [(1, 0), (0, 0)]
    assert store.corpus.delete_documents(["d"], traces=True)[0].redacted == 1
    assert store.corpus.delete_documents(["d"])[0].quoted == 0
    store.close()
    connection = connect(path, "write")
    redacted = decode(CaseResult, json.loads(connection.execute("SELECT body FROM eval_result").fetchone()[0])).answer
    connection.close()
    assert redacted is not None
    assert "salary" not in repr(redacted)
    assert (redacted.claims[0].citations[0].start, redacted.claims[0].citations[0].end) == (0, 9)
    assert b"A salary" not in path.read_bytes()


def test_migrations_are_recorded_by_name_in_order(tmp_path: Path) -> None:
    path = tmp_path / "workbench.db"
    open_store(path).close()
    connection = connect(path, "write")
    recorded = connection.execute("SELECT number, name FROM migration ORDER BY number").fetchall()
    assert recorded == [(n, m.name) for n, m in enumerate(MIGRATIONS, 1)]
    assert version(connection) == len(MIGRATIONS)
    connection.close()


def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    def broken(connection: Connection) -> None:
        connection.execute("CREATE TABLE half_done (x)")
        raise RuntimeError("broken")

    path = tmp_path / "workbench.db"
    open_store(path).close()
    before = path.read_bytes()
    connection = connect(path, "write")
    with pytest.raises(RuntimeError, match="broken"):
        migrate(connection, path, (*MIGRATIONS, Migration("9999_broken", broken)))
    connection.close()
    assert path.read_bytes() == before
