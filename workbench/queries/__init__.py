"""What becomes of a question before it is searched, and once more when what was found is weak.

Spelling, splitting, other wordings, other languages, and the reading of a follow-up with the question before it. A
transformation adds searches to the question's own and takes none away. Lanes and fusion live in
``workbench.retrieval``; what is done with the hits, in ``workbench.answers``.
"""
