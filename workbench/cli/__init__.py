"""The command line: one package per family of commands, each a thin front end over the desk.

What is computed lives behind the desk; here are options, printing, and exit codes: 0 done, 1 an error or a document
that could not be read, 2 a command that can't be understood.
"""

from __future__ import annotations

from workbench.cli.front import FrontEnds
from workbench.cli.main import run

__all__ = ["FrontEnds", "run"]
