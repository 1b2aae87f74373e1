"""Frozen records that cross every boundary: storage saves them, screens draw them, the command line prints them.

No behaviour beyond small derived properties lives here, and no import of any other workbench package.
"""
