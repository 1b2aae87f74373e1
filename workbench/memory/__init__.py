"""How much memory a model will take: arithmetic on what its header says and how it is to be loaded.

``shape`` reads what counts from a header, ``estimate`` adds it up, ``room`` holds it against what is free, ``ledger``
corrects it by what earlier loads took. Pure functions of records: nothing here opens a file, asks the machine or starts
an engine.
"""
