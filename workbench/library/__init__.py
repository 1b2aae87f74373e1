"""The person's language models: the files there are, what they would take, and the one that is loaded.

What finds, describes and remembers model files lives here, and what loads and unloads them. The child processes that
run them are ``workbench.engine``'s; the arithmetic of their memory is ``workbench.memory``'s.
"""

from workbench.library.library import Library

__all__ = ["Library"]
