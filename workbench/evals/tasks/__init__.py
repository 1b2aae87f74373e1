"""Model tasks: an output held against what its case expects. No corpus and no judge."""
