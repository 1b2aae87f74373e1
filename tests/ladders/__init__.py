"""Tests of quantization ladders."""
