"""The tables, as the migrations create them.

``key`` columns are stable integer rowids: one number ties a chunk to its full-text row and to its vector. The tables
of an index's own (full text, vectors) are made in ``storage.indexes``, since every index has its own.
"""

from __future__ import annotations

from typing import Final

CORPUS: Final = """
CREATE TABLE migration (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    applied TEXT NOT NULL
);
CREATE TABLE collection (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    recipe TEXT NOT NULL,
    mandatory_filter TEXT NOT NULL DEFAULT '',
    version INTEGER NOT NULL DEFAULT 0,
    created TEXT NOT NULL
);
CREATE TABLE corpus_index (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    collection_id INTEGER NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL,
    embedder TEXT NOT NULL,
    recipe TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('building', 'current', 'retired')),
    created TEXT NOT NULL
);
CREATE UNIQUE INDEX one_current_index ON corpus_index (collection_id) WHERE status = 'current';
CREATE TABLE document (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    collection_id INTEGER NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    source_id TEXT NOT NULL,
    uri TEXT NOT NULL,
    title TEXT NOT NULL,
    media_type TEXT NOT NULL,
    language TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('current', 'retired')),
    hash TEXT NOT NULL,
    metadata_hash TEXT NOT NULL,
    characters INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    warnings TEXT NOT NULL,
    ingested TEXT NOT NULL,
    UNIQUE (collection_id, source_id)
);
CREATE TABLE document_text (
    document_key INTEGER PRIMARY KEY REFERENCES document (key) ON DELETE CASCADE,
    text TEXT NOT NULL,
    structure TEXT NOT NULL,
    metadata TEXT NOT NULL
);
CREATE TABLE indexed_document (
    index_id INTEGER NOT NULL REFERENCES corpus_index (id) ON DELETE CASCADE,
    document_key INTEGER NOT NULL REFERENCES document (key) ON DELETE CASCADE,
    PRIMARY KEY (index_id, document_key)
) WITHOUT ROWID;
CREATE INDEX indexed_document_document ON indexed_document (document_key);
CREATE TABLE chunk (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    index_id INTEGER NOT NULL REFERENCES corpus_index (id) ON DELETE CASCADE,
    document_key INTEGER NOT NULL REFERENCES document (key) ON DELETE CASCADE,
    id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    header TEXT NOT NULL,
    path TEXT NOT NULL,
    section TEXT NOT NULL,
    kind TEXT NOT NULL,
    page INTEGER,
    page_label TEXT NOT NULL,
    language TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    tiktoken_tokens INTEGER NOT NULL,
    truncated INTEGER NOT NULL,
    hash TEXT NOT NULL,
    parent_start INTEGER,
    parent_end INTEGER,
    metadata TEXT NOT NULL,
    heading TEXT NOT NULL,
    text TEXT NOT NULL,
    stems TEXT NOT NULL,
    exact TEXT NOT NULL,
    UNIQUE (id, index_id)
);
CREATE INDEX chunk_document ON chunk (index_id, document_key, ordinal);
CREATE INDEX chunk_of_document ON chunk (document_key);
CREATE TABLE field (
    document_key INTEGER NOT NULL REFERENCES document (key) ON DELETE CASCADE,
    chunk_key INTEGER REFERENCES chunk (key) ON DELETE CASCADE,
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('text', 'number', 'date', 'bool', 'list')),
    value BLOB NOT NULL
);
CREATE INDEX field_value ON field (name, kind, value, document_key, chunk_key);
CREATE INDEX field_document ON field (document_key, chunk_key);
CREATE INDEX field_chunk ON field (chunk_key) WHERE chunk_key IS NOT NULL;
"""

TRACES: Final = """
CREATE TABLE trace (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    created TEXT NOT NULL,
    query TEXT NOT NULL,
    collection TEXT NOT NULL,
    outcome TEXT NOT NULL,
    duration_ms REAL NOT NULL,
    complete INTEGER NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX trace_created ON trace (created);
CREATE TABLE trace_span (
    trace_key INTEGER NOT NULL REFERENCES trace (key) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    start_ms REAL NOT NULL,
    duration_ms REAL NOT NULL,
    PRIMARY KEY (trace_key, position)
) WITHOUT ROWID;
"""

MODELS: Final = """
CREATE TABLE model_file (
    path TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    body TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE model_folder (
    path TEXT PRIMARY KEY
) WITHOUT ROWID;
"""

DATASETS_AND_SETTINGS: Final = """
CREATE TABLE dataset (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    collection TEXT NOT NULL,
    hash TEXT NOT NULL,
    created TEXT NOT NULL,
    cases INTEGER NOT NULL,
    answerable INTEGER NOT NULL
);
CREATE TABLE dataset_case (
    dataset_id INTEGER NOT NULL REFERENCES dataset (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    id TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (dataset_id, position)
) WITHOUT ROWID;
CREATE TABLE setting (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
"""

RUNS: Final = """
CREATE TABLE eval_run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    dataset TEXT NOT NULL,
    dataset_hash TEXT NOT NULL,
    config TEXT NOT NULL,
    manifest TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('running', 'stopped', 'complete')),
    created TEXT NOT NULL,
    done INTEGER NOT NULL DEFAULT 0,
    total INTEGER NOT NULL,
    passed INTEGER NOT NULL DEFAULT 0,
    baseline INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX one_baseline ON eval_run (dataset) WHERE baseline;
CREATE TABLE eval_result (
    key INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES eval_run (id) ON DELETE CASCADE,
    case_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    passed INTEGER,
    failure TEXT NOT NULL,
    trace_id TEXT NOT NULL,
    ranked TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (run_id, case_id)
);
CREATE INDEX eval_result_position ON eval_result (run_id, position);
CREATE TABLE eval_label (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id INTEGER NOT NULL,
    case_id TEXT NOT NULL,
    value INTEGER NOT NULL CHECK (value IN (-1, 0, 1)),
    note TEXT NOT NULL,
    created TEXT NOT NULL,
    FOREIGN KEY (run_id, case_id) REFERENCES eval_result (run_id, case_id) ON DELETE CASCADE
);
CREATE INDEX eval_label_case ON eval_label (run_id, case_id);
CREATE TABLE gate_set (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    dataset TEXT NOT NULL,
    name TEXT NOT NULL,
    gates TEXT NOT NULL,
    locked TEXT NOT NULL,
    UNIQUE (dataset, name)
);
CREATE TRIGGER gates_stay_as_locked BEFORE UPDATE ON gate_set
BEGIN SELECT RAISE(ABORT, 'locked gates are never edited'); END;
CREATE TABLE decision (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    created TEXT NOT NULL,
    body TEXT NOT NULL
);
"""

JUDGEMENTS: Final = """
CREATE TABLE eval_judgement (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id INTEGER NOT NULL REFERENCES eval_run (id) ON DELETE CASCADE,
    body TEXT NOT NULL
);
CREATE INDEX eval_judgement_run ON eval_judgement (run_id);
"""

GIVEN_METADATA: Final = """
ALTER TABLE document ADD COLUMN given TEXT NOT NULL DEFAULT '{}';
"""

PAGE_ENDS: Final = """
ALTER TABLE chunk ADD COLUMN page_end INTEGER;
UPDATE chunk SET page_end = (
    SELECT max(p.value ->> 'number') FROM document_text t, json_each(t.structure, '$.pages') p
    WHERE t.document_key = chunk.document_key AND p.value ->> 'start' < chunk.end
) WHERE page IS NOT NULL;
"""


def _document_links(links: str, table: str) -> str:
    """Which documents the passages in a row's JSON are of; those whose words were taken out have no id there."""
    return f"""
CREATE TABLE {links} (
    document_id TEXT NOT NULL,
    row_key INTEGER NOT NULL REFERENCES {table} (key) ON DELETE CASCADE,
    PRIMARY KEY (document_id, row_key)
) WITHOUT ROWID;
CREATE INDEX {links}_row ON {links} (row_key);
CREATE TRIGGER {links}_insert AFTER INSERT ON {table} BEGIN
INSERT INTO {links} SELECT DISTINCT value, new.key FROM json_tree(new.body)
WHERE key = 'document_id' AND value <> ''; END;
CREATE TRIGGER {links}_update AFTER UPDATE OF body ON {table} BEGIN
DELETE FROM {links} WHERE row_key = new.key; INSERT INTO {links}
SELECT DISTINCT value, new.key FROM json_tree(new.body) WHERE key = 'document_id' AND value <> ''; END;
INSERT INTO {links} SELECT DISTINCT j.value, r.key FROM {table} r, json_tree(r.body) j
WHERE j.key = 'document_id' AND j.value <> '';
"""


QUOTATIONS: Final = _document_links("trace_document", "trace") + _document_links("result_document", "eval_result")

DATASET_VERSIONS: Final = """
CREATE TABLE dataset_version (
    dataset_id INTEGER NOT NULL REFERENCES dataset (id) ON DELETE CASCADE,
    hash TEXT NOT NULL,
    created TEXT NOT NULL,
    cases INTEGER NOT NULL,
    answerable INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (dataset_id, hash)
);
INSERT INTO dataset_version (dataset_id, hash, created, cases, answerable, body)
    SELECT d.id, d.hash, d.created, d.cases, d.answerable,
        coalesce((SELECT group_concat(c.body, char(10) ORDER BY c.position) FROM dataset_case c
                  WHERE c.dataset_id = d.id), '')
    FROM dataset d;
DROP TABLE dataset_case;
CREATE TABLE candidate (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    dataset TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'accepted', 'rejected')),
    origin TEXT NOT NULL,
    created TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX candidate_dataset ON candidate (dataset, state);
"""

MEMORY_LEDGER: Final = """
CREATE TABLE memory_load (
    id INTEGER PRIMARY KEY,
    body TEXT NOT NULL
);
"""
