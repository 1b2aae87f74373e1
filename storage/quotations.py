"""Which stored traces and evaluation results quote a document, and taking its words out of them.

Triggers keep the tables ``trace_document`` and ``result_document``; every function runs inside a transaction.
"""

from __future__ import annotations

import json
from collections.abc import Collection

from storage.driver import Connection
from workbench.answers.redaction import redacted_result, redacted_trace
from workbench.records.answers import Trace
from workbench.records.codec import decode, encode
from workbench.records.evals import CaseResult


def count_quoting(connection: Connection, document_id: str) -> int:
    """Traces and evaluation results that hold words of the document."""
    statement = """
        SELECT (SELECT count(*) FROM trace_document WHERE document_id = ?1)
             + (SELECT count(*) FROM result_document WHERE document_id = ?1)
    """
    return int(connection.execute(statement, (document_id,)).fetchone()[0])


def redact(connection: Connection, document_ids: Collection[str]) -> None:
    """Takes the documents' words out of every trace and evaluation result."""
    ids = json.dumps(list(document_ids))
    for key, body in _quoting(connection, "trace", "trace_document", ids):
        trace = redacted_trace(decode(Trace, json.loads(body)), document_ids)
        connection.execute("UPDATE trace SET body = ? WHERE key = ?", (json.dumps(encode(trace)), key))
    for key, body in _quoting(connection, "eval_result", "result_document", ids):
        # The ranking is a column of its own, see storage.runs: the body's has none.
        result = redacted_result(decode(CaseResult, json.loads(body)), document_ids)
        connection.execute("UPDATE eval_result SET body = ? WHERE key = ?", (json.dumps(encode(result)), key))


def _quoting(connection: Connection, table: str, links: str, ids: str) -> list[tuple[int, str]]:
    return connection.execute(
        f"SELECT key, body FROM {table} WHERE key IN "
        f"(SELECT row_key FROM {links} WHERE document_id IN (SELECT value FROM json_each(?)))",
        (ids,),
    ).fetchall()
