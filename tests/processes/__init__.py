"""Tests of child processes as such."""
