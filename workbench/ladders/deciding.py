"""The decision for a rung: what it saves, keeps and loses against another, why it still pays, and the evidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workbench.errors import NotFoundError, UsageError
from workbench.evals.lab import EvalLab
from workbench.i18n import tr
from workbench.ladders.exports import circumstances, decimal, estimate_words, rate_words, row_name, row_words
from workbench.ladders.figures import saving
from workbench.ladders.report import decode_speed
from workbench.records.evals import DecisionRecord
from workbench.records.ladders import LadderReport, LadderRow


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
        ", ".join(_saves(report, row, base)) or tr("nothing that was measured"),
        "; ".join(_keeps(report, row, base)) or tr("nothing that was measured"),
        "; ".join(_loses(report, row, base)) or tr("nothing that was measured"),
    )


def decide(evals: EvalLab, report: LadderReport, chosen: Sentence, because: str) -> DecisionRecord:
    """Stores it. Raises UsageError without a reason, and where nothing but the size is known of the rung."""
    if not because.strip():
        raise UsageError(
            tr("Not a decision yet"), tr("It lacks why this pays all the same."), tr("Say what the task tolerates.")
        )
    row, facts = report.rows[chosen.place], list(circumstances(report))
    if not (row.divergence or row.passed or row.perplexity or (row.bench and (row.bench.speeds or row.bench.ttft_ms))):
        lacking = facts[0] if report.left else tr("the ladder has no text, no bench and no dataset")
        raise UsageError(
            tr("Not a decision yet"),
            tr("Of {kind} only the size is known ({lacking}).", kind=chosen.kind, lacking=lacking),
            tr("Measure it first: workbench ladder resume {id}", id=report.ladder.id),
        )
    words = [row_words(report, one) for one in report.rows]
    return evals.decide(
        tr("{kind} instead of {base}", kind=chosen.kind, base=chosen.base),
        "change",
        [report.rows[n].rung.run_id for n in (chosen.against, chosen.place) if report.rows[n].rung.run_id],
        context=tr("Quantization ladder {id}", id=report.ladder.id),
        options=[row_name(row) for row in report.rows],
        reasons=[chosen.words(because)],
        evidence=[*facts[:1], *words, *facts[1:]] if report.left else [*words, *facts],
    )


def _saves(report: LadderReport, row: LadderRow, base: LadderRow) -> Iterator[str]:
    if (spared := base.rung.size - row.rung.size) > 0:
        share = f"{saving(row.rung.size, base.rung.size):.0%}"
        yield tr("{size} of the file ({share})", size=decimal(spared), share=share)
    if (memory := _memory(row, base)) > 0:
        yield tr("{size} of peak memory", size=decimal(memory))
    if (speed := _speed(report, row, base)) and speed.differs and speed.factor > 1:
        yield tr("{share} of the time for a token", share=f"{1 - 1 / speed.factor:.0%}")


def _memory(row: LadderRow, base: LadderRow) -> int:
    """Bytes of peak memory that it takes less than ``base``; 0 where one wasn't measured."""
    if row.bench and base.bench and row.bench.rss and base.bench.rss:
        return base.bench.rss - row.bench.rss
    return 0


@dataclass(frozen=True, slots=True)
class _Speed:
    """Decode speed as a multiple of the baseline's; ``differs`` when their 95 % intervals don't meet."""

    factor: float
    differs: bool


def _speed(report: LadderReport, row: LadderRow, base: LadderRow) -> _Speed | None:
    """None where one wasn't measured, or only once: that tells nothing of either."""
    mine, theirs = decode_speed(row, report.ladder.plan.bench), decode_speed(base, report.ladder.plan.bench)
    if mine is None or theirs is None or mine.low is None or mine.high is None:
        return None
    if theirs.low is None or theirs.high is None or not mine.mean or not theirs.mean:
        return None
    return _Speed(mine.mean / theirs.mean, mine.low > theirs.high or mine.high < theirs.low)


def _keeps(report: LadderReport, row: LadderRow, base: LadderRow) -> Iterator[str]:
    if row.passed and base.passed:
        kept, before = rate_words(row.passed), rate_words(base.passed)
        yield tr("{kept} cases passed (it was {before})", kept=kept, before=before)
    if row.divergence:
        share = estimate_words(row.divergence.same_top, "0.1%")
        reference = row_name(report.rows[0])
        yield tr("the likeliest token of {reference} at {share} of positions", reference=reference, share=share)
    if (speed := _speed(report, row, base)) and not speed.differs:
        yield tr("the decode speed, as far as its intervals tell (×{factor})", factor=f"{speed.factor:.2f}")
    if (change := _perplexity(report, row, base)) and not change.worse:
        yield tr("the perplexity ({change})", change=f"{change.share:+.1%}")


def _loses(report: LadderReport, row: LadderRow, base: LadderRow) -> Iterator[str]:
    if (more := row.rung.size - base.rung.size) > 0:
        yield tr("{size} more of the file", size=decimal(more))
    if (memory := _memory(row, base)) < 0:
        yield tr("{size} more of peak memory", size=decimal(-memory))
    if (speed := _speed(report, row, base)) and speed.differs and speed.factor < 1:
        yield tr("{share} of the decode speed", share=f"{1 - speed.factor:.0%}")
    if row.loss and base.rung.place == 0:
        yield tr("Δquality {loss} of the cases", loss=estimate_words(row.loss, "+.3f"))
    if row.divergence:
        found, reference = row.divergence, row_name(report.rows[0])
        kl, p99 = estimate_words(found.kl, ".3f"), estimate_words(found.kl_p99, ".2f")
        yield tr("KL {kl} nats on average and {p99} at p99 against {reference}", kl=kl, p99=p99, reference=reference)
    if (change := _perplexity(report, row, base)) and change.worse:
        yield tr("{change} of perplexity", change=f"{change.share:+.1%}")


@dataclass(frozen=True, slots=True)
class _Change:
    """By what share perplexity is another than the baseline's, and whether it is surely higher."""

    share: float
    worse: bool


def _perplexity(report: LadderReport, row: LadderRow, base: LadderRow) -> _Change | None:
    """Against the reference the paired ratio decides, whose interval is far narrower than either perplexity's."""
    if not row.perplexity or not base.perplexity:
        return None
    share = row.perplexity.value / base.perplexity.value - 1
    paired = row.divergence.log_ratio if row.divergence and base.rung.place == 0 else None
    return _Change(share, paired.low > 0 if paired else share > 0)
