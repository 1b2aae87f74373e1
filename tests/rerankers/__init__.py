"""Rerankers: tiny real models, and the tests of every stage with them."""
