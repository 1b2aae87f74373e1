"""The command line on real files with the real embedder."""
