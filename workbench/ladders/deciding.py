"""The decision for a rung: what it saves, keeps and loses against another, why it still pays, and the evidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workbench.errors import NotFoundError, UsageError
from workbench.evals.lab import EvalLab
from workbench.i18n import tr
from workbench.ladders.exports import circumstances, estimate_words, rate_words, row_name, row_words
from workbench.ladders.figures import saving
from workbench.ladders.report import decode_speed
from workbench.records.evals import DecisionRecord
from workbench.records.ladders import LadderReport, LadderRow

GB, MB = 1e9, 1e6


@dataclass(frozen=True, slots=True)
class Sentence:
    """ "Against ``base``, ``kind`` saves … , keeps …, loses …": the parts as they were measured."""

    place: int
    against: int
    kind: str
    base: str
    saves: str
    keeps: str
    loses: str

    def words(self, because: str) -> str:
        """The whole sentence."""
        return tr(
            "Against {base}, {kind} saves {saves}, keeps {keeps}, loses {loses}, and still pays because {because}.",
            base=self.base,
            kind=self.kind,
            saves=self.saves,
            keeps=self.keeps,
            loses=self.loses,
            because=because.strip().rstrip("."),
        )


def sentence(report: LadderReport, place: int, against: int) -> Sentence:
    """What was measured of the rung at ``place`` against the one at ``against``.

    Raises:
        NotFoundError: no such rung.
        UsageError: they are the same, or one isn't made.
    """
    if max(place, against) >= len(report.rows) or min(place, against) < 0:
        raise NotFoundError(
            tr("No such rung"), tr("The ladder has {count}.", count=len(report.rows)), tr("Choose one of its rows.")
        )
    row, base = report.rows[place], report.rows[against]
    if place == against or not row.rung.size or not base.rung.size:
        raise UsageError(
            tr("Nothing to decide"),
            tr("A decision holds one rung against another, and both files are there."),
            tr("Choose another rung."),
        )
    return Sentence(
        place,
        against,
        row_name(row),
        row_name(base),
        ", ".join(_saves(row, base)) or tr("nothing that was measured"),
        "; ".join(_keeps(report, row, base)) or tr("nothing that was measured"),
        "; ".join(_loses(report, row, base)) or tr("nothing that was measured"),
    )


def decide(evals: EvalLab, report: LadderReport, chosen: Sentence, because: str) -> DecisionRecord:
    """Stores it. Raises UsageError without a reason."""
    if not because.strip():
        raise UsageError(
            tr("Not a decision yet"), tr("It lacks why this pays all the same."), tr("Say what the task tolerates.")
        )
    return evals.decide(
        tr("{kind} instead of {base}", kind=chosen.kind, base=chosen.base),
        "change",
        [report.rows[n].rung.run_id for n in (chosen.against, chosen.place) if report.rows[n].rung.run_id],
        context=tr("Quantization ladder {id}", id=report.ladder.id),
        options=[row_name(row) for row in report.rows],
        reasons=[chosen.words(because)],
        evidence=[*(row_words(report, row) for row in report.rows), *circumstances(report)],
    )


def _saves(row: LadderRow, base: LadderRow) -> Iterator[str]:
    if (spared := base.rung.size - row.rung.size) > 0:
        share = f"{saving(row.rung.size, base.rung.size):.0%}"
        yield tr("{size} of the file ({share})", size=_decimal(spared), share=share)
    if (memory := _memory(row, base)) > 0:
        yield tr("{size} of peak memory", size=_decimal(memory))


def _memory(row: LadderRow, base: LadderRow) -> int:
    """Bytes of peak memory that it takes less than ``base``; 0 where one wasn't measured."""
    if row.bench and base.bench and row.bench.rss and base.bench.rss:
        return base.bench.rss - row.bench.rss
    return 0


def _decimal(size: int) -> str:
    """Bytes in decimal units, as files are sold: "3.5 GB", "6.64 MB"."""
    return f"{size / GB:.3g} GB" if abs(size) >= GB / 10 else f"{size / MB:.3g} MB"


def _keeps(report: LadderReport, row: LadderRow, base: LadderRow) -> Iterator[str]:
    if row.passed and base.passed:
        kept, before = rate_words(row.passed), rate_words(base.passed)
        yield tr("{kept} cases passed (it was {before})", kept=kept, before=before)
    if row.divergence:
        share = estimate_words(row.divergence.same_top, "0.1%")
        reference = row_name(report.rows[0])
        yield tr("the likeliest token of {reference} at {share} of positions", reference=reference, share=share)
    speeds = decode_speed(row, report.ladder.plan.bench), decode_speed(base, report.ladder.plan.bench)
    if speeds[0] and speeds[1] and speeds[1].mean:
        yield tr("{factor} of the decode speed", factor=f"×{speeds[0].mean / speeds[1].mean:.2f}")
    if (change := _perplexity(row, base)) < 0:
        yield tr("{change} of perplexity", change=f"{change:+.1%}")


def _loses(report: LadderReport, row: LadderRow, base: LadderRow) -> Iterator[str]:
    if (more := row.rung.size - base.rung.size) > 0:
        yield tr("{size} more of the file", size=_decimal(more))
    if (memory := _memory(row, base)) < 0:
        yield tr("{size} more of peak memory", size=_decimal(-memory))
    if row.loss and base.rung.place == 0:
        yield tr("Δquality {loss} of the cases", loss=estimate_words(row.loss, "+.3f"))
    if row.divergence:
        found, reference = row.divergence, row_name(report.rows[0])
        kl, p99 = estimate_words(found.kl, ".3f"), estimate_words(found.kl_p99, ".2f")
        yield tr("KL {kl} nats on average and {p99} at p99 against {reference}", kl=kl, p99=p99, reference=reference)
    if (change := _perplexity(row, base)) > 0:
        yield tr("{change} of perplexity", change=f"{change:+.1%}")


def _perplexity(row: LadderRow, base: LadderRow) -> float:
    """By what share it is higher than that of ``base``; 0 where one wasn't measured."""
    return row.perplexity.value / base.perplexity.value - 1 if row.perplexity and base.perplexity else 0.0
