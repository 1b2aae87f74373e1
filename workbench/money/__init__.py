"""What a model costs and how long it takes: arithmetic on measured tokens and times, and on prices a person gave.

Formulas live here, each with its unit. No price and no speed is built in: prices are the person's and carry their date,
speeds are measured. Money has the currency of the prices it came from; nothing converts one into another.
"""
