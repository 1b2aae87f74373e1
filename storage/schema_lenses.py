"""Which rankings hold which chunk: kept by triggers from the bodies of traces and the rankings of eval results.

Chunk ids get a number once, so that a place in a ranking is three small integers.
"""

from __future__ import annotations

from typing import Final

RANKS_KEPT: Final = 50
"""A released migration's number: no context takes what stands lower."""

_TRACE_RANKING: Final = f"""
CREATE VIEW trace_ranking (row_key, chunk_id, rank) AS
SELECT t.key, hit.value ->> 'chunk_id', coalesce(
        (SELECT again.value ->> 'rank' FROM json_each(t.body, '$.spans') reranked,
                json_each(reranked.value, '$.output.hits') again
         WHERE reranked.value ->> 'name' = 'rerank' AND reranked.value ->> '$.output.skipped' = ''
            AND reranked.key > fusion.key AND again.value ->> 'chunk_id' = hit.value ->> 'chunk_id'
         ORDER BY reranked.key DESC LIMIT 1),
        hit.value ->> 'rank') AS place
    FROM trace t, json_each(t.body, '$.spans') fusion, json_each(fusion.value, '$.output.hits') hit
    WHERE fusion.key = (SELECT max(key) FROM json_each(t.body, '$.spans') WHERE value ->> 'name' = 'fusion')
        AND hit.value ->> 'chunk_id' <> '' AND place <= {RANKS_KEPT}
"""
"""The last ranking of a question: as it was reranked, where it was."""

_RESULT_RANKING: Final = f"""
CREATE VIEW result_ranking (row_key, chunk_id, rank) AS
SELECT r.key, hit.value ->> 0, hit.value ->> 4 FROM eval_result r, json_each(r.ranked) hit
    WHERE hit.value ->> 0 <> '' AND hit.value ->> 4 <= {RANKS_KEPT}
"""
"""``Ranked`` is stored as an array; its first field is the chunk's id, its fifth the rank."""


def _links(links: str, ranking: str, table: str, column: str) -> str:
    def fill(condition: str) -> tuple[str, str]:
        # No OR IGNORE: the conflict clause of the statement that fires a trigger overrules that of the trigger.
        return (
            f"INSERT INTO ranked_chunk (id) SELECT DISTINCT chunk_id FROM {ranking} "
            f"WHERE {condition} AND chunk_id NOT IN (SELECT id FROM ranked_chunk)",
            f"INSERT INTO {links} SELECT c.key, v.row_key, min(v.rank) FROM {ranking} v "
            f"JOIN ranked_chunk c ON c.id = v.chunk_id WHERE {condition} GROUP BY c.key, v.row_key",
        )

    new = "; ".join(fill("row_key = new.key"))
    every = ";\n".join(fill("true"))
    return f"""
CREATE TABLE {links} (
    chunk_key INTEGER NOT NULL REFERENCES ranked_chunk (key),
    row_key INTEGER NOT NULL REFERENCES {table} (key) ON DELETE CASCADE,
    rank INTEGER NOT NULL,
    PRIMARY KEY (chunk_key, row_key)
) WITHOUT ROWID;
CREATE INDEX {links}_row ON {links} (row_key);
CREATE TRIGGER {links}_insert AFTER INSERT ON {table} BEGIN {new}; END;
CREATE TRIGGER {links}_update AFTER UPDATE OF {column} ON {table} BEGIN
DELETE FROM {links} WHERE row_key = new.key; {new}; END;
{every};
"""


LENSES: Final = (
    "CREATE TABLE ranked_chunk (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);\n"
    f"{_TRACE_RANKING};\n{_RESULT_RANKING};\n"
    "CREATE INDEX eval_result_trace ON eval_result (trace_id) WHERE trace_id <> '';\n"
    + _links("trace_hit", "trace_ranking", "trace", "body")
    + _links("result_hit", "result_ranking", "eval_result", "ranked")
)
