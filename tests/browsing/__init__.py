"""Tests of browsing."""
