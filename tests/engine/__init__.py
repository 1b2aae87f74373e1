"""The engine with its real runtimes: a small language model, the starter embedder, and damaged copies of both."""
