"""The embedders that are installed, what is known of them, and what is wrong with them or with indexes of theirs."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from screens.style import Line, Tone, content
from workbench.i18n import tr
from workbench.i18n.amounts import indexes, tokens
from workbench.indexing.catalogue import language_words
from workbench.records.indexes import InstalledEmbedder, LintFinding


def embedders_told(found: Sequence[InstalledEmbedder], lint: Sequence[LintFinding]) -> Content:
    """A paragraph for each, the lint below."""
    lines: list[Line] = []
    for one in found:
        lines += _told(one)
    lines += [line for finding in lint for line in _finding(finding)]
    if not lint:
        lines.append(("✓ " + tr("Nothing is wrong."), Tone.GOOD))
    return content(*lines)


def _told(one: InstalledEmbedder) -> list[Line]:
    if one.problem:
        return [(f"✗ {one.name}\n", Tone.BAD), f"  {one.problem}\n\n"]
    known = one.known
    figures = [one.runtime, str(one.dimension), tokens(one.max_tokens), indexes(one.indexes)]
    prefixes = f"“{one.query_prefix}” “{one.passage_prefix}”" if one.query_prefix or one.passage_prefix else "–"
    cut = ", ".join(map(str, one.cuts))
    facts = [(tr("prefixes"), prefixes), (tr("licence"), known.licence if known else "?")]
    facts += [(tr("languages"), language_words(known) if known else "?"), (tr("cut to"), cut or "–")]
    head = (f"{'●' if one.default else '◦'} {one.name}", Tone.STRONG)
    told = "\n  ".join(f"{name} {value}" for name, value in facts)
    return [head, "  " + " · ".join(figures) + "\n", (f"  {told}\n\n", Tone.DIM)]


def _finding(finding: LintFinding) -> list[Line]:
    mark: Line = ("✗ ", Tone.BAD) if finding.level == "error" else ("~ ", Tone.WARN)
    return [mark, f"{finding.about}: {finding.message}\n", (f"  → {finding.remedy}\n", Tone.DIM)]
