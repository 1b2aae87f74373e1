"""Finding: filters, query analysis, the two lanes and their fusion.

Everything here works on records and asks the file through ``workbench.ports``: no SQL, no model, no terminal. What is
done with what was found (context, answers, citations) lives in ``workbench.answers``.
"""
