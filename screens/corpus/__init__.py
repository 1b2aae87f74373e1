"""The Corpus screen: documents, their chunks, what is wrong with them, and the dialogs that change them.

Nothing is checked, cut or embedded here: the desk does that. What is here reads in worker threads, turns records into
lines, and asks what a person wants.
"""

from screens.corpus.screen import CorpusScreen

__all__ = ["CorpusScreen"]
