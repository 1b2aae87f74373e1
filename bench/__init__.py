"""Benchmarks: scripts that print measured figures on real data. Nothing imports them; no test times anything."""
