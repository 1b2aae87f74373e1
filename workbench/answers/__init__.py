"""Answering: from what was found to a cited answer or a reasoned refusal, and the trace that tells how.

Context, prompt, grammar, extraction, support, citations, abstention, and the asker that runs them in order. Everything
here works on records and ports; finding lives in ``workbench.retrieval``, models in ``workbench.engine``.
"""
