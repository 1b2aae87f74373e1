"""Datasets come in, go out and grow: files, proposals of a model, saved questions. Runs nothing."""
