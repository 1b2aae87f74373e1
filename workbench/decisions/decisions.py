"""Decision sheets in the file, filled from measurements where they exist, and the records of what was decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from workbench.decisions.measurements import Measurements
from workbench.decisions.sheet import judge
from workbench.decisions.writing import criteria_of, evidence_of, firmness, option_words, read_sheet
from workbench.errors import NotFoundError, UsageError
from workbench.evals.lab import EvalLab
from workbench.i18n import tr
from workbench.ports import EntryRepository
from workbench.records.decisions import Criterion, Option, Sheet, Value, Verdict
from workbench.records.evals import DecisionRecord


@dataclass(frozen=True, slots=True)
class _Backing:
    """A sheet as sentences, for the record of a decision that was taken on it; and the runs among its evidence."""

    options: tuple[str, ...]
    evidence: tuple[str, ...] = ()
    runs: tuple[int, ...] = ()
    criteria: tuple[str, ...] = ()
    sensitivity: tuple[str, ...] = ()


class Decisions:
    """Sheets by their titles, and decision records. Every method may be called from any thread."""

    def __init__(self, entries: EntryRepository, evals: EvalLab, measurements: Measurements) -> None:
        self._entries, self._evals, self._measurements = entries, evals, measurements

    def sheets(self) -> tuple[Sheet, ...]:
        """By title."""
        return self._entries.all(Sheet)

    def sheet(self, title: str) -> Sheet:
        """Raises NotFoundError."""
        found = self._entries.get(Sheet, title)
        if found is None:
            raise NotFoundError(
                tr("No such sheet"),
                tr("There is no decision sheet “{title}”.", title=title),
                tr("workbench decide sheets lists them; workbench decide new begins one."),
            )
        return found

    def put(self, sheet: Sheet) -> Sheet:
        """Stores a sheet, in place of one with its title. Raises UsageError without a title."""
        if not sheet.title.strip():
            raise UsageError(tr("No title"), tr("A sheet is kept by its title."), tr("Give it one."))
        self._entries.put(sheet.title, sheet)
        return sheet

    def write(self, title: str, text: str) -> Sheet:
        """Stores the sheet that a text describes, as ``writing`` reads it. Raises UsageError, NotFoundError."""
        before = self._entries.get(Sheet, title)
        return self.put(read_sheet(title, text, self.measured, before))

    def remove(self, title: str) -> None:
        """Raises NotFoundError."""
        self._entries.remove(Sheet, self.sheet(title).title)

    def set_criterion(self, title: str, criterion: Criterion) -> Sheet:
        """Adds it, or takes the place of the one with its name."""
        sheet = self.sheet(title)
        criteria = {c.name: c for c in sheet.criteria} | {criterion.name: criterion}
        return self.put(replace(sheet, criteria=tuple(criteria.values())))

    def set_values(self, title: str, option: str, values: Mapping[str, Value], penalty: float | None = None) -> Sheet:
        """Adds an option or changes its values. Raises NotFoundError for a criterion that isn't on the sheet."""
        sheet = self.sheet(title)
        names = [c.name for c in sheet.criteria]
        stray = next((name for name in values if name not in names), None)
        if stray is not None:
            raise NotFoundError(
                tr("No such criterion"),
                tr("“{name}” is not on the sheet.", name=stray),
                tr("There are: {names}.", names=", ".join(names) or "–"),
            )
        options = {o.name: o for o in sheet.options}
        before = options.get(option, Option(option, {}))
        taken = before.penalty if penalty is None else penalty
        options[option] = Option(option, {**before.values, **values}, taken)
        return self.put(replace(sheet, options=tuple(options.values())))

    def measured(self, link: str) -> Value:
        """The value that a link to a measurement names. See ``Measurements``. Raises UsageError, NotFoundError."""
        return self._measurements.value(link)

    def judge(self, title: str) -> Verdict:
        """Hard filters, then the weighted sum, with sensitivity and Pareto front. Raises NotFoundError, UsageError."""
        return judge(self.sheet(title))

    # -- records ---------------------------------------------------------------------------------------------------

    def decide(
        self,
        title: str,
        choice: str,
        *,
        sheet: str = "",
        context: str = "",
        reasons: Sequence[str] = (),
        conditions: str = "",
        review: str = "",
    ) -> DecisionRecord:
        """Stores a decision. With a sheet, its options, scores and evidence are written down for it.

        Raises:
            UsageError: no title, choice or reason; a choice that isn't among the sheet's options, or was ruled out.
            NotFoundError: no such sheet.
        """
        if not choice.strip():
            raise UsageError(tr("Not a decision yet"), tr("Nothing is chosen."), tr("Name the option."))
        backed = self._backed(sheet, choice) if sheet else _Backing((choice,))
        return self._evals.decide(
            title,
            "change",
            backed.runs,
            context=context,
            options=backed.options,
            reasons=reasons,
            evidence=backed.evidence,
            conditions=conditions,
            review=review,
            choice=choice,
            criteria=backed.criteria,
            sensitivity=backed.sensitivity,
        )

    def _backed(self, title: str, choice: str) -> _Backing:
        """What the sheet says for the decision. Raises UsageError for a choice that isn't left on it."""
        sheet, verdict = self.sheet(title), self.judge(title)
        found = next((scored for scored in verdict.ranking if scored.option.name == choice), None)
        if found is None or found.out:
            raise UsageError(
                tr("It can't be chosen"),
                found.out if found else tr("“{name}” is not among the options.", name=choice),
                tr("There are: {names}.", names=", ".join(o.name for o in sheet.options)),
            )
        links = [value.evidence for option in sheet.options for value in option.values.values()]
        numbers = {link.split(":")[1] for link in links if link.startswith("run:")}
        return _Backing(
            tuple(map(option_words, verdict.ranking)),
            evidence_of(sheet),
            tuple(sorted(int(n) for n in numbers if n.isdecimal())),
            criteria_of(sheet),
            firmness(verdict),
        )

    def records(self) -> tuple[DecisionRecord, ...]:
        """All decisions of the file, those on evaluations' runs too; newest first."""
        return self._evals.decisions()

    def export(self, record_id: int) -> str:
        """One as an architecture decision record in Markdown. Raises NotFoundError."""
        return self._evals.export_decision(record_id)


def due(record: DecisionRecord) -> date | None:
    """The day of its review; None where that is no date."""
    try:
        return date.fromisoformat(record.review.strip()[:10])
    except ValueError:
        return None


def overdue(record: DecisionRecord, today: date | None = None) -> bool:
    """Its review was to be on an earlier day; a review that isn't a date never is."""
    day = due(record)
    return day is not None and day < (today or datetime.now(UTC).date())


def next_review(records: Sequence[DecisionRecord]) -> DecisionRecord | None:
    """The decision whose review comes first, overdue ones before all; None where no review has a date."""
    dated = [(day, record) for record in records if (day := due(record))]
    return min(dated, key=lambda pair: pair[0])[1] if dated else None
