"""The file: everything the workbench remembers, in one SQLite database.

Here live the choice of driver, the pragmas, the migrations, the one write thread and the repositories that implement
``workbench.ports``: all SQL of the project, and nothing that decides. No Textual, no parsing, no ranking beyond what
the two lanes of the file compute.
"""

from storage.opening import can_write
from storage.store import open_store

__all__ = ["can_write", "open_store"]
