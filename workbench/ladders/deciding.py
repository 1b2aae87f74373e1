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
    """ "Against ``base``, ``kind`` saves … , keeps …, loses …": the parts as they were measured.

    Attributes:
        open: differences that the intervals don't tell from none.
        judged: some figure tells of the rung's quality against the other's.
    """

    place: int
    against: int
    kind: str
    base: str
    saves: str
    keeps: str
    loses: str
    open: str = ""
    judged: bool = True

    def words(self, because: str) -> str:
        """The whole sentence, and one more for what is left open."""
        told = tr(
            "Against {base}, {kind} saves {saves}, keeps {keeps}, loses {loses}, and still pays because {because}.",
            base=self.base,
            kind=self.kind,
            saves=self.saves,
            keeps=self.keeps,
            loses=self.loses,
            because=because.strip().rstrip("."),
        )
        return " ".join(filter(None, (told, self.open_words)))

    @property
    def open_words(self) -> str:
        """What can't be told apart, "" for nothing."""
        return tr("Not told apart: {differences}.", differences=self.open) if self.open else ""


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
        "; ".join(_open(report, row, base)),
        _judged(row, base),
    )


def _judged(row: LadderRow, base: LadderRow) -> bool:
    """The reference has no divergence from itself: that of the other tells of both."""
    scored = base.divergence if row.rung.place == 0 else row.divergence
    return bool(scored or (row.passed and base.passed))


def decide(evals: EvalLab, report: LadderReport, chosen: Sentence, because: str) -> DecisionRecord:
    """Stores it; where nothing tells of the rung's quality, as one that asks for more measuring.

    Raises UsageError without a reason, and where nothing but the size is known of the rung.
    """
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
        "change" if chosen.judged else "measure_more",
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
    """Decode speed as a multiple of the baseline's; ``differs`` when they have 95 % intervals, and these don't meet."""

    factor: float
    differs: bool


def _speed(report: LadderReport, row: LadderRow, base: LadderRow) -> _Speed | None:
    """None where one wasn't measured. One repetition has no interval, and differs surely from none."""
    mine, theirs = decode_speed(row, report.ladder.plan.bench), decode_speed(base, report.ladder.plan.bench)
    if mine is None or theirs is None or not mine.mean or not theirs.mean:
        return None
    factor = mine.mean / theirs.mean
    if mine.low is None or mine.high is None or theirs.low is None or theirs.high is None:
        return _Speed(factor, differs=False)
    return _Speed(factor, mine.low > theirs.high or mine.high < theirs.low)


def _keeps(report: LadderReport, row: LadderRow, base: LadderRow) -> Iterator[str]:
    if not _fewer(row, base) and (told := _passed(row, base)):
        yield told
    if row.divergence:
        share = estimate_words(row.divergence.same_top, "0.1%")
        reference = row_name(report.rows[0])
        yield tr("the likeliest token of {reference} at {share} of positions", reference=reference, share=share)
    if row.loss and base.rung.place == 0 and row.loss.high < 0:
        yield tr("Δquality {loss} of the cases", loss=estimate_words(row.loss, "+.3f"))
    if (change := _perplexity(row, base)) and change.better:
        yield tr("the perplexity ({change})", change=f"{change.share:+.1%}")


def _passed(row: LadderRow, base: LadderRow) -> str:
    """How many cases each of them passes, "" where one wasn't evaluated."""
    if not row.passed or not base.passed:
        return ""
    return tr("{kept} cases passed (it was {before})", kept=rate_words(row.passed), before=rate_words(base.passed))


def _fewer(row: LadderRow, base: LadderRow) -> bool:
    return bool(row.passed and base.passed and row.passed.share < base.passed.share)


def _lost(row: LadderRow, base: LadderRow) -> bool:
    """The paired Δquality, which is against the reference, is surely above 0."""
    return bool(row.loss and base.rung.place == 0 and row.loss.low > 0)


def _loses(report: LadderReport, row: LadderRow, base: LadderRow) -> Iterator[str]:
    if (more := row.rung.size - base.rung.size) > 0:
        yield tr("{size} more of the file", size=decimal(more))
    if (memory := _memory(row, base)) < 0:
        yield tr("{size} more of peak memory", size=decimal(-memory))
    if (speed := _speed(report, row, base)) and speed.differs and speed.factor < 1:
        yield tr("{share} of the decode speed", share=f"{1 - speed.factor:.0%}")
    if _lost(row, base):
        yield tr("Δquality {loss} of the cases", loss=estimate_words(row.loss, "+.3f"))
        yield _passed(row, base)
    if row.divergence:
        found, reference = row.divergence, row_name(report.rows[0])
        kl, p99 = estimate_words(found.kl, ".3f"), estimate_words(found.kl_p99, ".2f")
        yield tr("KL {kl} nats on average and {p99} at p99 against {reference}", kl=kl, p99=p99, reference=reference)
    if (change := _perplexity(row, base)) and change.worse:
        yield tr("{change} of perplexity", change=f"{change.share:+.1%}")
    if not _judged(row, base):
        yield tr("an unknown amount of quality, which was not measured")


def _open(report: LadderReport, row: LadderRow, base: LadderRow) -> Iterator[str]:
    """Differences whose interval holds none, or that have no interval."""
    if (speed := _speed(report, row, base)) and not speed.differs:
        yield tr("decode speed ×{factor}", factor=f"{speed.factor:.2f}")
    if row.loss and base.rung.place == 0 and row.loss.low <= 0 <= row.loss.high:
        yield tr("Δquality {loss} of the cases", loss=estimate_words(row.loss, "+.3f"))
    if _fewer(row, base) and not _lost(row, base):
        yield _passed(row, base)
    if (change := _perplexity(row, base)) and not change.worse and not change.better:
        yield tr("{change} of perplexity", change=f"{change.share:+.1%}")


@dataclass(frozen=True, slots=True)
class _Change:
    """By what share perplexity is another than the baseline's, and whether it is surely higher or lower."""

    share: float
    worse: bool
    better: bool


def _perplexity(row: LadderRow, base: LadderRow) -> _Change | None:
    """The ratios to the reference decide, paired by position: their intervals are far narrower than a perplexity's."""
    if not row.perplexity or not base.perplexity:
        return None
    mine, theirs = _ratio(row), _ratio(base)
    share = row.perplexity.value / base.perplexity.value - 1
    if mine is None or theirs is None:
        return _Change(share, worse=False, better=False)
    return _Change(share, worse=mine[0] > theirs[1], better=mine[1] < theirs[0])


def _ratio(row: LadderRow) -> tuple[float, float] | None:
    """The interval of ln(its perplexity ÷ the reference's), None where it has none; the reference's own is nothing."""
    if row.rung.place == 0:
        return 0.0, 0.0
    found = row.divergence.log_ratio if row.divergence else None
    return None if found is None or found.low is None or found.high is None else (found.low, found.high)
