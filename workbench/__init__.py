"""Workbench: everything that is still true with no terminal and no file.

Here live the frozen records, the ports (Protocols), the parsing and chunking of documents, retrieval, answers and
citations, the engine's client and its child processes, the desk that both front ends hold, and the command line.
SQL does not live here (that is ``storage``), and neither does Textual (that is ``screens``); only
``workbench.__main__``, the composition root, knows them both.
"""

__version__ = "0.1.0"
