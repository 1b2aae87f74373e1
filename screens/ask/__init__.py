"""The Ask screen: the question and its ranking, keystroke by keystroke, the stages behind them, and the cited answer.

Nothing is searched, checked or decided here: traces come from the desk and are drawn. What is here reads in worker
threads, turns records into lines, and asks what a person wants.
"""

from screens.ask.screen import AskScreen

__all__ = ["AskScreen"]
