"""The health page: every check with what it found and what mends it, how the corpus is distributed, where bytes are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from screens.corpus.healthlines import found, is_outdated
from screens.corpus.remedies import ACTS, Act, Decision, act_words
from screens.dialogs import HELP, ConfirmDialog
from screens.messages import Snapshot
from screens.style import Line, Tone, content, count, duration, milliseconds, size
from screens.widgets.grid import Column, Grid, Row
from screens.work import Job, Jobs
from workbench.errors import Cancelled
from workbench.i18n import tr
from workbench.records.health import Finding, Health, HealthCheck, Histogram, Repair, RepairProgress, Severity, SpaceMap

if TYPE_CHECKING:
    from workbench.desk import Desk
    from workbench.ports import Cancel

SIGNS: Final[dict[Severity, Line]] = {
    "error": ("✗", Tone.BAD),
    "warning": ("~", Tone.WARN),
    "note": ("◦", Tone.DIM),
}
_SPACE: Final = "space"
_PLOT: Final = "plot "
_MORE: Final = "more"
_BAR: Final = 40
_TINY: Final = 0.001
"""Tables that hold less of the file are not listed."""
_LONG_MS: Final = 10_000  # from which on an examination is told in seconds


class HealthMoved(Snapshot):
    """Fires for every step of an examination; carries what is known so far."""

    def __init__(self, health: Health) -> None:
        super().__init__()
        self.health = health


class Told(Snapshot):
    """Fires while a repair or a rebuild runs; carries how far it is."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words


class HealthScreen(ModalScreen[Finding | Decision | None]):
    """Checks on the left, what one found on the right; dismisses with the finding to go to, or what to decide on it."""

    CSS_PATH = ["../dialogs.tcss", "corpus.tcss"]  # noqa: RUF012 -- Textual declares it as an instance variable
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 -- as above
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "examine", "Check again", id="health.examine"),
        Binding("f", "fix", "Fix", id="health.fix", tooltip="Makes the check's repair, or opens what decides"),
        Binding("tab", "app.focus_next", "Other list", show=False, id="health.other"),
        Binding("escape,q", "leave", "Back", id="health.leave", tooltip="Stops what runs; else back to the documents"),
        *HELP,
    ]

    def __init__(self, desk: Desk, jobs: Jobs, collection: str) -> None:
        super().__init__()
        self._desk, self._jobs, self._collection = desk, jobs, collection
        self._health: Health | None = None
        self._before: Health | None = None
        self._coming: frozenset[str] = frozenset()
        self._space: SpaceMap | None = None
        self._job: Job | None = None

    def compose(self) -> ComposeResult:
        """Two panes and a line that tells how far it is."""
        with Vertical(classes="dialog health") as box:
            box.border_title = content(tr("Health of {name}", name=self._collection))
            with Horizontal(id="health-panes"):
                yield Grid([Column("", 1), Column(tr("check"), 0), Column(tr("found"), 7, "right")], id="checks")
                with Vertical(id="health-right"):
                    yield Static(id="health-told")
                    yield Grid(
                        [Column(tr("where"), 0, tail=True, fit=True), Column(tr("what"), 0)],
                        id="findings",
                    )
                    yield Grid(_space_columns(), id="space")
                    with VerticalScroll(id="plot"):
                        yield Static()
            yield Static(id="health-progress")

    def on_mount(self) -> None:
        """What was found last; where nothing was kept, or something changed since, it is looked for now."""
        self._jobs.read(self, self._read_last, self._begin)
        self.query_one("#checks").focus()

    def _read_last(self) -> tuple[Health | None, bool]:
        health = self._desk.doctor.last(self._collection)
        known = next((c for c in self._desk.collections() if c.name == self._collection), None)
        return health, health is not None and known is not None and is_outdated(health, known)

    def _begin(self, last: tuple[Health | None, bool]) -> None:
        health, outdated = last
        if health:
            self._show(health)
        if health is None or outdated:
            self.action_examine()

    # -- examining -------------------------------------------------------------------------------------------------

    def action_examine(self) -> None:
        """Every check anew; those that are to come stand as they were."""
        name, self._before = self._collection, self._health

        def run(cancel: Cancel) -> Iterator[Health]:
            last = None
            for last in self._desk.doctor.examine(name, cancel):
                yield last
            if last:
                self._desk.doctor.keep(last)

        self._run(tr("health"), lambda: self._jobs.run(self, tr("health"), run, each=HealthMoved, then=self._examined))

    def _run(self, told: str, start: Callable[[], Job]) -> None:
        """One thing at a time."""
        if self._job is None:
            self._progress(f"{told} …")
            self._job = start()

    def on_health_moved(self, event: HealthMoved) -> None:
        """Checks appear as they are done."""
        health = event.health
        self._show(health)
        if health.running:
            self._progress(
                tr("checking {what} {done}/{total}", what=health.running, done=health.done, total=health.total)
            )

    def _examined(self, health: Health | None) -> None:
        self._job = None
        if health and health.done < health.total:
            self._progress(tr("Stopped: not all was checked. r checks again."))
        elif health:
            self._show(health)

    def _show(self, health: Health) -> None:
        """What is checked again keeps its row, so that the chosen one stays chosen."""
        done = {check.key for check in health.checks}
        if health.running and (before := self._before):
            coming = [check for check in before.checks if check.key not in done]
            health = replace(health, checks=(*health.checks, *coming), histograms=before.histograms)
        self._health, self._coming = health, frozenset(check.key for check in health.checks) - done
        grid = self.query_one("#checks", Grid)
        checks = [_check_row(check, coming=check.key in self._coming) for check in _worst_first(health.checks)]
        rows = [*checks, *map(_plot_row, health.histograms), _space_row()]
        grid.show(rows, ranked=self._before is None)
        self._draw(grid.key)
        if not health.running and health.at:
            when = f"{health.at.astimezone():%Y-%m-%d %H:%M}"
            took = duration(ms / 1000) if (ms := health.duration_ms) >= _LONG_MS else f"{milliseconds(ms)} ms"
            self._progress(tr("examined {when} in {took}", when=when, took=took), found(health))

    def _progress(self, words: str, line: Line = "") -> None:
        self.query_one("#health-progress", Static).update(content(line, "   " if line else "", words))
        self._tell_keys()

    def _tell_keys(self) -> None:
        """Those that act now."""
        keys = [
            tr("enter goes there"),
            *([tr("f fixes")] if self._mendable else []),
            tr("r checks again"),
            tr("esc back"),
        ]
        told = " · ".join(keys) if self._job is None else tr("esc stops it")
        self.query_one(".health").border_subtitle = content(told)
        self.refresh_bindings()

    @property
    def _mendable(self) -> bool:
        """What is chosen has a repair, and was checked since it could have changed."""
        key = self.query_one("#checks", Grid).key
        check = self._check(key) if key not in self._coming else None
        return key == _SPACE or bool(check and (check.repair or _act(check)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """No repair where there is nothing to repair."""
        return self._mendable if action == "fix" and self.is_mounted else True

    # -- the right side --------------------------------------------------------------------------------------------

    @on(Grid.Highlighted, "#checks")
    def chosen(self, event: Grid.Highlighted) -> None:
        """What it found."""
        self._draw(event.key)

    def _draw(self, key: str) -> None:
        check = self._check(key)
        plot = next((h for h in self._health.histograms if _PLOT + h.key == key), None) if self._health else None
        told = self.query_one("#health-told", Static)
        self.query_one("#findings").display = check is not None
        self.query_one("#space").display = key == _SPACE
        self.query_one("#plot").display = plot is not None
        if check:
            told.update(content((check.title, Tone.STRONG), "   …") if key in self._coming else _told(check))
            self.query_one("#findings", Grid).show(_findings(check))
        elif plot:
            told.update(content((plot.title, Tone.STRONG)))
            self.query_one("#plot Static", Static).update(_bars(plot))
        elif key == _SPACE:
            self._draw_space()
        self._tell_keys()

    def _check(self, key: str) -> HealthCheck | None:
        return next((check for check in self._health.checks if check.key == key), None) if self._health else None

    def _draw_space(self) -> None:
        if self._space is None:
            self.query_one("#health-told", Static).update(content((tr("Looking at every page of the file…"), Tone.DIM)))
            self._jobs.read(self, lambda: self._desk.doctor.space(None), self._show_space)
            return
        space = self._space
        told = tr(
            "{file} in the file, {log} in its log; {free} can be given back.",
            file=size(space.file_bytes),
            log=size(space.log_bytes),
            free=size(space.reclaimable),
        )
        act = tr("makes vector tables with gaps anew and rewrites the file without what nothing uses")
        self.query_one("#health-told", Static).update(content(told, "\n", ("f ", Tone.ACCENT), (act, Tone.DIM)))
        self.query_one("#space", Grid).show(_space_rows(space))

    def _show_space(self, space: SpaceMap) -> None:
        self._space = space
        if self.query_one("#checks", Grid).key == _SPACE:
            self._draw_space()

    # -- keys ------------------------------------------------------------------------------------------------------

    @on(Grid.Opened, "#checks")
    def to_findings(self) -> None:
        """Into the list of what it found."""
        right = self.query_one("#space" if self.query_one("#checks", Grid).key == _SPACE else "#findings", Grid)
        if right.display and right.rows:
            right.focus()

    @on(Grid.Opened, "#findings")
    def go(self, event: Grid.Opened) -> None:
        """To the chunk or the document."""
        check = self._check(self.query_one("#checks", Grid).key)
        finding = check.findings[int(event.key)] if check and event.key != _MORE else None
        if finding and finding.kind in ("chunk", "document"):
            self.action_stop()
            self.dismiss(finding)

    def action_leave(self) -> None:
        """Stops what runs; else from the findings to the checks; else back."""
        if self._job is not None:
            self.action_stop()
        elif self.focused is not self.query_one("#checks"):
            self.query_one("#checks").focus()
        else:
            self.dismiss(None)

    def action_stop(self) -> None:
        """What runs ends at its next safe point."""
        if self._job is not None:
            self._job.stop()

    def action_fix(self) -> None:
        """Makes the repair; one that hides documents asks first."""
        key = self.query_one("#checks", Grid).key
        check = self._check(key)
        if key == _SPACE:
            self._run(tr("space"), self._compact)
        elif check is None or self._job is not None:
            return
        elif check.repair == "retire":
            question = tr("They are kept, and no longer found. Documents: {count}.", count=count(len(check.findings)))
            self._ask_retire(tr("Retire these documents?"), question, lambda: self._fix(check, check.repair))
        elif check.repair:
            self._run(tr("repair"), lambda: self._fix(check, check.repair))
        elif act := _act(check):
            self._decide(check, act)

    def _ask_retire(self, title: str, question: str, fix: Callable[[], Job]) -> None:
        dialog = ConfirmDialog(title, question, tr("Retire"), tr("Keep"))
        self.app.push_screen(dialog, lambda yes: self._run(tr("repair"), fix) if yes else None)

    def _decide(self, check: HealthCheck, act: Act) -> None:
        """Asks here, or leaves with what is to be decided."""
        chosen = self.query_one("#findings", Grid).key
        one = check.findings[int(chosen) if chosen.isdigit() else 0]
        only = replace(check, findings=(replace(one, id=one.document),))
        match act:
            case "read":
                self._run(tr("repair"), lambda: self._fix(check, "ingest"))
            case "retire":
                name = one.name.rpartition(" #")[0]
                question = tr("It is kept, and no longer found: {name}.", name=name)
                self._ask_retire(tr("Retire this document?"), question, lambda: self._fix(only, "retire"))
            case "filter":
                self.dismiss(Decision(act, (one.document,)))
            case _:
                self.dismiss(Decision(act, tuple(dict.fromkeys(found.document for found in check.findings))))

    def _fix(self, check: HealthCheck, repair: Repair) -> Job:
        assert self._health is not None  # noqa: S101 -- the check is one of it
        health = replace(self._health, checks=(check,))

        def told(progress: RepairProgress) -> Told:
            return Told(progress.told or f"{tr(progress.repair)} {count(progress.done)}/{count(progress.total)}")

        def then(last: RepairProgress | None) -> None:
            self._mended(last.told if last and last.finished else tr("Stopped: what was done stays."))

        return self._jobs.run(
            self,
            tr("repair"),
            lambda cancel: self._desk.doctor.repair(health, repair, cancel, only=check.key),
            each=told,
            then=then,
            failed=self._broke,
        )

    def _compact(self) -> Job:
        def run(cancel: Cancel) -> Iterator[int]:
            def tell(name: str, done: int, total: int) -> None:
                if cancel.is_set():
                    raise Cancelled
                words = tr("{name}: vectors {done}/{total}", name=name, done=count(done), total=count(total))
                self.post_message(Told(words if name else tr("rewriting the file")))

            yield self._desk.doctor.compact(tell)

        def then(freed: int | None) -> None:
            self._space = None
            told = tr("{bytes} were given back.", bytes=size(max(0, freed))) if freed is not None else tr("Stopped.")
            self._job = None
            self._progress(told)
            self._draw(_SPACE)

        return self._jobs.run(self, tr("space"), run, then=then, failed=self._broke)

    def on_told(self, event: Told) -> None:
        """How far it is."""
        self._progress(event.words)

    def _mended(self, told: str) -> None:
        self._job = None
        self.notify(told, timeout=6, markup=False)
        self.action_examine()

    def _broke(self, error: Exception) -> None:
        self._job = None
        self._progress(str(error))


def _act(check: HealthCheck) -> Act | None:
    """What decides on what it found, where it found anything."""
    return None if check.passed else ACTS.get(check.key)


def _worst_first(checks: tuple[HealthCheck, ...]) -> list[HealthCheck]:
    order = list(SIGNS)
    return sorted(checks, key=lambda check: (check.passed, order.index(check.severity)))


def _check_row(check: HealthCheck, *, coming: bool) -> Row:
    if coming:
        return Row(check.key, (("…", Tone.DIM), (check.title, Tone.DIM), ""))
    sign: Line = ("✓", Tone.GOOD) if check.passed else SIGNS[check.severity]
    title: Line = (check.title, Tone.DIM) if check.passed else check.title
    return Row(check.key, (sign, title, "" if check.passed else count(check.count)))


def _plot_row(histogram: Histogram) -> Row:
    return Row(_PLOT + histogram.key, (("▅", Tone.ACCENT), histogram.title, ""))


def _space_row() -> Row:
    return Row(_SPACE, (("▦", Tone.ACCENT), tr("Space in the file"), ""))


def _told(check: HealthCheck) -> Content:
    number = count(check.of) if check.passed else f"{count(check.count)}/{count(check.of)}"
    first = (check.title, Tone.STRONG), f"   {number}", (f"   {check.measured}" if check.measured else "", Tone.DIM)
    if check.passed:
        return content(*first, "\n", ("✓ " + tr("nothing found"), Tone.GOOD))
    act = _act(check)
    does = tr("does it") if check.repair else act_words(act) if act else ""
    fix: Line = ("   ", ("f ", Tone.ACCENT), (does, Tone.STRONG)) if does else ""
    return content(*first, "\n", ("→ ", Tone.ACCENT), check.remedy, fix)


def _findings(check: HealthCheck) -> list[Row]:
    rows = [Row(str(n), (f.name, (f.detail, Tone.DIM))) for n, f in enumerate(check.findings)]
    left = check.count - len(check.findings)
    more = Row(_MORE, ("", (tr("and {count} more", count=count(left)), Tone.DIM)))
    return [*rows, more] if left > 0 and rows else rows


def _bars(histogram: Histogram) -> Content:
    widest, most = max(map(len, histogram.labels), default=0), max(histogram.counts, default=1) or 1
    lines: list[Line] = []
    for label, number in zip(histogram.labels, histogram.counts, strict=True):
        bar = "▇" * max(1 if number else 0, round(_BAR * number / most))
        lines += [(f"{label:>{widest}}  ", Tone.DIM), (bar, Tone.ACCENT), f" {count(number)}\n"]
    return content(*lines)


def _space_columns() -> list[Column]:
    return [
        Column(tr("table"), 0, fit=True),
        Column(tr("bytes"), 9, "right"),
        Column("%", 5, "right"),
        Column(tr("gaps"), 8, "right", fold=True),
        Column(tr("what it holds"), 0, keep=60),
    ]


def _space_rows(space: SpaceMap) -> list[Row]:
    whole = max(1, space.file_bytes)
    items = [i for i in sorted(space.items, key=lambda i: -i.bytes) if i.gaps or i.bytes > whole * _TINY]
    return [
        Row(
            item.name,
            (
                item.name,
                size(item.bytes),
                f"{100 * item.bytes / whole:.1f}",
                size(item.gaps) if item.gaps else "",
                (item.what, Tone.DIM),
            ),
        )
        for item in items
    ]
