"""Indexes side by side, built from the stored texts, compared, switched to and back; and what embeds for them.

Here live the forms in which an index stores vectors (``forms``), the embedders and what is known of them
(``embedders``, ``catalogue``), building beside (``building``), what an approximate form loses (``recall``, and
``recalled`` where it is kept and told), two indexes held against each other on questions (``comparing``), the preview
of another recipe (``rechunking``), and ``Indexes``, which the desk hands out. No SQL, no screen, no native code:
embedders run in child processes of the engine.
"""
