"""Tests of what a user would notice, on real parts wherever the real part runs."""
