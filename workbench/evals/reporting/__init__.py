"""Runs, comparisons and decisions as texts to hand on: Markdown, HTML, LaTeX. Computes no figure."""
