"""From files to chunks: which sources there are, what they say, what is known about them, and how they are cut.

Finding sources, parsing them, their metadata, chunking recipes and the ingest that drives them live here. No SQL, no
screen, and no model: embedding is asked of a port.
"""
