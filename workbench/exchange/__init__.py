"""What leaves a workbench file and comes into one: exports and imports of collections, moves, snapshots.

Here are the tables of an export with their columns, the files they are written to and read from (JSON Lines, Parquet),
what a row must be to come in, and ``Exchange``, which the desk hands out. Rows are read and stored by ``storage``, and
formats of eval datasets that other systems know are in ``workbench.evals.formats``.
"""

from workbench.exchange.exchange import Exchange

__all__ = ["Exchange"]
