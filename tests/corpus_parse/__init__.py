"""Tests of sources, parsing and metadata."""
