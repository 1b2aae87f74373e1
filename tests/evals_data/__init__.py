"""Tests of datasets: formats, anchors, checks, synthetic questions."""
