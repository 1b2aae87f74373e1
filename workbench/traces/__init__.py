"""The stored trace as a thing to work with: what-if, autopsy, comparison, replay and exports.

What-ifs compute with what a trace holds and never search or embed; an autopsy asks the lanes for a rank that the trace
hasn't. How a question is answered in the first place lives in ``workbench.answers``.
"""
