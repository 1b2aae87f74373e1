"""Commands that search, answer, and read the traces of what was asked."""
