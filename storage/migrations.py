"""Named migrations: each runs once, in order, in one transaction with the others, and is recorded.

``user_version`` counts them, so that a file from a newer version is recognised before anything is touched. A
migration that has been released is never edited: add another one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from storage import (
    schema,
    schema_benchmarks,
    schema_browsing,
    schema_changes,
    schema_curation,
    schema_evals,
    schema_indexes,
    schema_keystrokes,
    schema_ladders,
    schema_lenses,
    schema_library,
    schema_servers,
    schema_usage,
)
from storage.driver import APPLICATION_ID, Connection, damaged_file
from workbench.errors import FileError
from workbench.i18n import tr


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema. ``apply`` runs inside a transaction."""

    name: str
    apply: Callable[[Connection], None]


def _runs(statements: str) -> Callable[[Connection], None]:
    def apply(connection: Connection) -> None:
        # executescript would commit the transaction it runs in.
        for statement in statements.split(";\n"):
            if statement.strip():
                connection.execute(statement)

    return apply


def _add_token_vectors(connection: Connection) -> None:
    """Recipes say from now on whether token vectors are kept; those of before kept none."""
    connection.execute("ALTER TABLE corpus_index ADD COLUMN token_mean BLOB")
    for table in ("collection", "corpus_index"):
        for number, recipe in connection.execute(f"SELECT id, recipe FROM {table}").fetchall():
            stated = json.dumps({"token_vectors": "none", **json.loads(recipe)}, sort_keys=True)
            connection.execute(f"UPDATE {table} SET recipe = ? WHERE id = ?", (stated, number))


MIGRATIONS: Final[tuple[Migration, ...]] = (
    Migration("0001_corpus", _runs(schema.CORPUS)),
    Migration("0002_traces", _runs(schema.TRACES)),
    Migration("0003_models", _runs(schema.MODELS)),
    Migration("0004_datasets_and_settings", _runs(schema.DATASETS_AND_SETTINGS)),
    Migration("0005_eval_runs", _runs(schema.RUNS)),
    Migration("0006_dataset_versions", _runs(schema.DATASET_VERSIONS)),
    Migration("0007_token_vectors", _add_token_vectors),
    Migration("0008_judgements", _runs(schema.JUDGEMENTS)),
    Migration("0009_given_metadata", _runs(schema.GIVEN_METADATA)),
    Migration("0010_page_ends", _runs(schema.PAGE_ENDS)),
    Migration("0011_memory_ledger", _runs(schema.MEMORY_LEDGER)),
    Migration("0012_quotations", _runs(schema.QUOTATIONS)),
    Migration("0013_run_holder", _runs(schema_evals.RUN_HOLDER)),
    Migration("0014_keystrokes", _runs(schema_keystrokes.KEYSTROKES)),
    Migration("0015_model_notes", _runs(schema_library.LIBRARY)),
    Migration("0016_benchmarks", _runs(schema_benchmarks.BENCHMARKS)),
    Migration("0017_servers", _runs(schema_servers.SERVERS)),
    Migration("0018_metadata_edits", _runs(schema_curation.CURATION)),
    Migration("0019_ladders", _runs(schema_ladders.LADDERS)),
    Migration("0020_trace_hits", _runs(schema_lenses.LENSES)),
    Migration("0021_indexes", _runs(schema_indexes.INDEXES)),
    Migration("0022_model_calls", _runs(schema_usage.USAGE)),
    Migration("0023_chunk_orders", _runs(schema_browsing.BROWSING)),
    Migration("0024_estimated_tokens", _runs(schema_usage.ESTIMATED_TOKENS)),
    Migration("0025_document_changes", _runs(schema_changes.CHANGES)),
)


def version(connection: Connection) -> int:
    """How many migrations the file has had."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: Connection, path: Path, migrations: tuple[Migration, ...] = MIGRATIONS) -> None:
    """Brings the file up to date in one transaction; a file that is up to date is only tried for writing.

    Raises:
        FileError: the file is newer than these migrations, its history is another one, or its header contradicts it.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        done = version(connection)
        check_history(connection, path, done, migrations)
        for number, migration in enumerate(migrations[done:], done + 1):
            migration.apply(connection)
            connection.execute(
                "INSERT INTO migration (number, name, applied) VALUES (?, ?, ?)",
                (number, migration.name, datetime.now(UTC).isoformat()),
            )
        if done < len(migrations):
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {len(migrations)}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def check_history(connection: Connection, path: Path, done: int, migrations: tuple[Migration, ...]) -> None:
    """Raises FileError unless the recorded migrations are the first ``done`` of ``migrations``."""
    recorded = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'migration'").fetchone()
    if done == 0 and not recorded:
        return
    names = [name for (name,) in connection.execute("SELECT name FROM migration ORDER BY number")]
    if done > len(migrations) or names[:done] != [m.name for m in migrations[:done]]:
        raise newer_file(path)
    if len(names) != done:
        raise damaged_file(path)


def newer_file(path: Path) -> FileError:
    """The refusal of a file that a later version of the program has changed."""
    return FileError(
        tr("The file is from a newer version"),
        tr("“{path}” was last written by a newer Workbench than this one.", path=path),
        tr("Update Workbench, or open another file with --db."),
    )
