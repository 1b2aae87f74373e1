"""The engine: language models and embedders in child processes, and what model files tell without being loaded.

``client``, ``embedding`` and ``reranking`` implement the ports ``Generator``, ``Embedder`` and ``Reranker`` over
``process`` and ``protocol``. On the other side of the pipe run ``child`` and its servers ``llama`` (with
``llama_model`` and ``llama_sampler``), ``onnx`` and ``pair_server`` (with ``onnx_pairs`` or ``llama_pairs``): only they
may import native runtimes, because native code can end the process it runs in. ``gguf_header`` reads model files,
``template`` renders chat prompts, ``gauges`` measures memory and ``pulses`` keeps what a model's child told of itself.
Importing this package imports none of it. No SQL, no Textual, and nothing here prints: what the engine says is kept for
the error that may follow.
"""
