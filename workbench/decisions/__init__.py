"""How to choose among options with numbers that were measured: hard filters, weighted sums, fronts, expected utility.

The sheets of a file, the arithmetic on them, the table of symptoms, and decisions with what would change them. What an
evaluation's gates say of a run is ``workbench.evals``'s, which also stores the records.
"""
