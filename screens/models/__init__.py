"""The Models screen: the library of model files, the gauges of the loaded one, and what is tried and measured with it.

No model runs here: the desk drives the child processes. What is here reads in worker threads, turns records into
lines, and asks what a person wants.
"""

from screens.models.screen import ModelsScreen

__all__ = ["ModelsScreen"]
