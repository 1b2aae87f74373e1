"""Commands about model files: what there is, what fits, how fast and how good it is."""
