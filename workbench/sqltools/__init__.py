"""SQL that reads: the console, the validator's nine controls, the linter, and queries that a model writes.

A query is parsed here with sqlglot and judged; what it may touch is enforced once more by the engine's own authorizer
in ``storage.sql_reader``, whatever a parser thought of it. No SQL driver, no Textual.
"""

from workbench.sqltools.console import SqlTools

__all__ = ["SqlTools"]
