"""Child processes: where native code runs, so that its crashes, its memory and its locks are not the workbench's.

``process`` is the parent's handle on a child, ``child`` is what every child does first, ``wire`` is the pipe between
them. What is said over it, and what a death means, is for the packages that use this: ``workbench.engine`` and
``workbench.corpus``. No SQL, no Textual, no native code.
"""
