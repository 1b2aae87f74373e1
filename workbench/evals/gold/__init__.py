"""Gold spans in an index: which chunks hold them, and how far they could come. Decides nothing about answers."""
