"""What can be seen of a chunk besides its text: what its edges cut, how it is indexed, who found it, what is like it.

Everything is read from what is stored, and nothing is changed. SQL is the file's business, drawing the front ends'.
"""

from workbench.lenses.lenses import Lenses

__all__ = ["Lenses"]
