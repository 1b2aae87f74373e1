"""How to choose among options with numbers that were measured: hard filters, weighted sums, fronts, expected utility.

Arithmetic on records lives here, and the table of symptoms. What was decided on an evaluation's runs is
``workbench.evals``'s; where a sheet's numbers come from is its caller's business.
"""
