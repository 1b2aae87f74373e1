"""Talking to the loaded model: conversations, prompts as they are sent, outputs held against a JSON Schema, and what is
wrong with a chat template.

What a person tries out by hand lives here. The model's process is ``workbench.engine``'s, answers from documents are
``workbench.answers``'. No SQL, no Textual, no native code.
"""

from workbench.playground.playground import Playground

__all__ = ["Playground"]
