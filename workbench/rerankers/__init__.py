"""Rerankers: which are installed, the children that score with them, what they bring, and where they are on.

The stage itself is in ``workbench.retrieval`` and the runtimes in ``workbench.engine``: no native code and no SQL here.
"""
