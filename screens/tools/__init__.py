"""The Tools screen: tokens, money, decisions and servers, one tab each. It is pushed over the screen one comes from.

What is computed here is asked of the desk in workers; forms are dialogs of lines. No sums live here.
"""

from screens.tools.screen import ToolsScreen

__all__ = ["ToolsScreen"]
