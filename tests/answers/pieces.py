"""Evidence and terms made by hand."""

from __future__ import annotations

from workbench.answers.terms import Term, question_terms
from workbench.records.answers import Evidence
from workbench.retrieval.analysis import analyse


def evidence(text: str, label: str = "F1", *, start: int = 0, header: str = "", language: str = "en") -> Evidence:
    """A piece of evidence whose span begins at ``start``."""
    return Evidence(
        label=label,
        chunk_id=f"chunk-{label}",
        document_id="doc",
        source_id="doc.md",
        title="Doc",
        heading=("Part", "Section"),
        page=3,
        page_label="iii",
        start=start,
        end=start + len(text),
        text=f"{header}\n{text}" if header else text,
        tokens=len(text.split()),
        header=header,
        language=language,
    )


def terms(question: str, frequency: dict[str, int] | None = None, total: int = 100) -> tuple[Term, ...]:
    """The terms of a question; words are in no other chunk unless ``frequency`` says so."""
    return question_terms(analyse(question), frequency or {}, total)
