"""How the stages of a question around its search are told in a line: (flow, note) of each record."""

from __future__ import annotations

from collections import Counter

from workbench.i18n import amounts, tr
from workbench.records.answers import Judged
from workbench.records.queries import EvidenceCheck, FollowUp
from workbench.records.retrieval import Transformed


def follow_up(stage: FollowUp) -> tuple[str, str]:
    """Words carried over, and the question as it is read."""
    carried = tr("carried: {words}", words=" ".join(stage.carried)) if stage.carried else ""
    read = stage.question if stage.carried or stage.by != "rules" else ""
    return f"+{len(stage.carried)}", " · ".join(filter(None, [carried or read, stage.note, _by(stage.by)]))


def transformed(stage: Transformed) -> tuple[str, str]:
    """Searches added, what they were for, and what a model spent on it."""
    if stage.skipped:
        return "", tr("skipped: {reason}", reason=stage.skipped)
    meant = [f"{one.word} → {one.suggestion}" for one in stage.corrections]
    texts = [] if meant else dict.fromkeys(v.name if stage.kind == "languages" else v.text for v in stage.variants)
    tokens = stage.prompt_tokens + stage.output_tokens
    spent = amounts.tokens(tokens) if tokens else ""
    flow = (
        tr("+{count} searches", count=stage.searches) if stage.variants else tr("suggested {count}", count=len(meant))
    )
    return flow, " · ".join(filter(None, [*meant, *texts, stage.note, _by(stage.by), spent]))


def evidence_check(stage: EvidenceCheck) -> tuple[str, str]:
    """Support against the threshold, what is lacking, and what comes next."""
    parts = [
        tr("covers {share} % of its words", share=round(100 * stage.coverage)),
        tr("lacking: {words}", words=", ".join(stage.lacking)) if stage.lacking else "",
        stage.reason,
        tr("searching for: {query}", query=stage.query) if stage.query else "",
        tr("step {step} of {steps}", step=stage.step, steps=stage.steps),
    ]
    return f"s {stage.support:.2f} < τ {stage.threshold:.2f}", " · ".join(filter(None, parts))


def judged(stage: Judged) -> tuple[str, str]:
    """Verdicts by kind, and whose they are."""
    verdicts = Counter(verdict.verdict for verdict in stage.verdicts)
    told = [f"{tr(verdict)} {n}" for verdict, n in verdicts.items() if verdict]
    if verdicts[""]:
        told.append(tr("unscored {count}", count=verdicts[""]))
    tokens = amounts.tokens(stage.prompt_tokens + stage.output_tokens)
    return tr("judged {count}", count=len(stage.verdicts)), " · ".join([*told, stage.judge, tokens])


def _by(name: str) -> str:
    return "" if name in ("rules", "index", "") else name
