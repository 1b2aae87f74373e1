"""Everything of a collection that two files must agree on, read past the code that exchanges it."""

from __future__ import annotations

from storage.driver import connect
from storage.indexes import vectors_table, words_table
from tests.library import NAME
from workbench.ports import Store


def contents(store: Store, name: str = NAME) -> dict[str, list[object]]:
    """Rows by table, without the integer keys, which are each file's own."""
    connection = connect(store.path, "read")
    try:
        indexes = connection.execute(
            "SELECT i.id FROM corpus_index i JOIN collection l ON l.id = i.collection_id "
            "WHERE l.name = ? AND i.status <> 'retired' ORDER BY i.status = 'current' DESC, i.id",
            (name,),
        ).fetchall()
        found = {
            "documents": connection.execute(
                "SELECT d.id, source_id, uri, title, media_type, language, d.status, hash, metadata_hash, characters, "
                "d.metadata, warnings, ingested, given, t.text, t.structure, t.metadata FROM document d "
                "JOIN document_text t ON t.document_key = d.key JOIN collection l ON l.id = d.collection_id "
                "WHERE l.name = ? ORDER BY d.id",
                (name,),
            ).fetchall(),
            "fields": connection.execute(
                "SELECT d.id, c.id, f.name, f.kind, f.value FROM field f JOIN document d ON d.key = f.document_key "
                "JOIN collection l ON l.id = d.collection_id LEFT JOIN chunk c ON c.key = f.chunk_key "
                "WHERE l.name = ? ORDER BY 1, 2, 3, 4, 5",
                (name,),
            ).fetchall(),
        }
        for place, (number,) in enumerate(indexes):
            found[f"index {place}"] = connection.execute(
                "SELECT embedder, recipe, form, centre, token_mean, status FROM corpus_index WHERE id = ?", (number,)
            ).fetchall()
            columns = [
                c for _, c, *_ in connection.execute("PRAGMA table_info(chunk)") if not c.endswith(("key", "index_id"))
            ]
            chosen = ", ".join(f"c.{column}" for column in columns)
            found[f"chunks {place}"] = connection.execute(
                f"SELECT {chosen}, v.embedding, w.sz, t.count, t.vectors FROM chunk c "
                f"LEFT JOIN {vectors_table(number)} v ON v.rowid = c.key "
                f"LEFT JOIN {words_table(number)}_docsize w ON w.id = c.key "
                f"LEFT JOIN index_{number}_tokens t ON t.key = c.key WHERE c.index_id = ? ORDER BY c.id",
                (number,),
            ).fetchall()
    finally:
        connection.close()
    return found
