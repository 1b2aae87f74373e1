"""Looking through a collection's chunks: lists of any length, in any order, and what is known of one of them.

Nothing is changed here, and nothing ranked: that is searching. SQL is the file's business, painting the screens'.
"""

from workbench.browsing.browser import Browser, Listing

__all__ = ["Browser", "Listing"]
