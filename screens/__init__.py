"""The terminal screens: the Textual app, its modes, messages, commands, and one module and one ``.tcss`` per screen.

Screens show what ``workbench`` computes: they hold a desk, ask it in worker threads (``screens.work``), and draw the
frozen records that come back. No SQL, no file format and no model runtime lives here.
"""
