"""The Evals screen: runs and their cases on the left, figures and one case at a time on the right, and its dialogs.

Nothing is measured or decided here: reports, comparisons, gates and failure stages come from the desk. What is here
reads records in worker threads (``reading``), turns them into lines (``words``, ``lists``, ``figures``, ``case``,
``plots``) and asks what a person wants (the dialogs).
"""

from screens.evals.screen import EvalsScreen

__all__ = ["EvalsScreen"]
