"""The evaluation side of the fake desk: runs really search and answer it, reports and comparisons are the real ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from tests.screens.fake_sets import WHEN, FakeSets
from workbench.errors import NotFoundError, UsageError
from workbench.evals.collecting.documents import Unpacked
from workbench.evals.deciding.gates import check_gates, parse_gates
from workbench.evals.deciding.threshold import risk_coverage
from workbench.evals.measuring.compare import compare_runs
from workbench.evals.measuring.scoring import make_report
from workbench.evals.reporting.markup import Page, to_html, to_latex, to_markdown
from workbench.evals.reporting.reports import (
    decision_markdown,
    ranking,
    report_page,
)
from workbench.evals.running.failure import autopsy
from workbench.ports import Cancel
from workbench.records.answers import AskOptions, Manifest, Trace
from workbench.records.cases import (
    Case,
    GoldSpan,
    Imported,
    RowProblem,
)
from workbench.records.evals import (
    CaseResult,
    DecisionRecord,
    FailureStage,
    Gate,
    GateResult,
    GateSet,
    ImportedRun,
    Label,
    Ranked,
    Run,
    RunComparison,
    RunConfig,
    RunProgress,
    RunReport,
    ThresholdPoint,
    Verdict,
)
from workbench.records.retrieval import SearchOptions

if TYPE_CHECKING:
    from tests.screens.fake_desk import FakeDesk
QUESTIONS: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    ("q-001", "¿Puedo ampliar matrícula si tengo pagos pendientes?", ("regulations#2", "calendar#1"), "multi-hop"),
    ("q-002", "When is the first day of classes?", ("calendar#1",), "direct"),
    ("q-003", "Who painted the lighthouse?", (), "unanswerable"),
    ("q-004", "When do students enrol?", ("regulations#1",), "direct"),
    ("q-005", "What does late enrolment cost?", ("regulations#1",), "direct"),
    ("q-006", "How many days at first?", ("regulations#3",), "direct"),
    ("q-007", "Am I allowed to settle my debts bit by bit?", ("faq#1",), "paraphrase"),
    ("q-008", "What are the opening times?", ("faq#2",), "direct"),
    ("q-009", "How often does the lamp turn?", ("manual/lighthouse#1",), "direct"),
    ("q-010", "What must be wiped each day?", ("manual/lighthouse#1",), "paraphrase"),
    ("q-011", "What warns ships near land?", ("manual/lighthouse#2",), "paraphrase"),
    ("q-012", "What do students with a grant pay for the extension?", ("tariffs-2026#1", "regulations#2"), "multi-hop"),
    ("q-013", "[red]Which[/] text \x1b[31mtries an escape?", ("hostile#1",), "hostile"),
    ("q-014", "Which results come within ten days?", ("calendar#2",), "direct"),
)


class FakeLab(FakeSets):
    """Answers like ``workbench.evals.lab.EvalLab``."""

    def __init__(self, desk: FakeDesk, *, empty: bool = False) -> None:
        super().__init__(desk, {})
        if not empty:
            self._cases["xquad-es"] = self._demo_cases()
        self._runs: dict[int, Run] = {}
        self._results: dict[int, dict[str, CaseResult]] = {}
        self._labels: list[Label] = []
        self._gates: list[GateSet] = []
        self._decisions: list[DecisionRecord] = []
        self.traces: dict[str, Trace] = {}
        self.thresholds: dict[str, float] = {}
        if not empty:
            self._seed()

    def _demo_cases(self) -> tuple[Case, ...]:
        return tuple(
            Case(
                key,
                question,
                answerable=bool(gold),
                gold=tuple(self._gold(chunk, 3 - number) for number, chunk in enumerate(gold)),
                answers=("No, hasta haberlos abonado.",) if key == "q-001" else (),
                type=kind,
                difficulty="easy" if kind == "direct" else "hard",
                language="es" if key == "q-001" else "en",
                notes="" if gold else "Nobody says.",
            )
            for key, question, gold, kind in QUESTIONS
        )

    def _gold(self, chunk_id: str, grade: int) -> GoldSpan:
        chunk = self._desk.chunk(chunk_id)
        return GoldSpan(chunk.source_id, chunk.start, chunk.end, grade)

    def _seed(self) -> None:
        lexical = RunConfig("xquad-es", search=SearchOptions(lanes=("lexical",)), title="bm25")
        self._finish(self._new(lexical))
        self.lock_gates("xquad-es", "release", parse_gates("recall@5 >= 0.50\npass_rate >= 0.85 # it is right"))
        self._finish(self._new(RunConfig("xquad-es")))
        chain = self._new(RunConfig("xquad-es", layer="chain", ask=AskOptions(evidence=2), title="chain"))
        self._finish(chain)
        self.set_baseline(1)

    def _new(self, config: RunConfig) -> Run:
        number = len(self._runs) + 1
        manifest = Manifest("0.1.0", "regulations-2026", 3, 1, "e5-small", "f" * 64, "structure/400", "", "")
        created = WHEN + timedelta(hours=number)
        total = config.limit or len(self._cases[config.dataset])
        self._runs[number] = Run(number, config, "c0ffee" * 10, manifest, "running", created, 0, total)
        self._results[number] = {}
        return self._runs[number]

    def _finish(self, run: Run) -> None:
        for _ in self._go_on(run, None):
            pass

    # -- datasets --------------------------------------------------------------------------------------------------

    def cautions(self, dataset: str) -> tuple[str, ...]:
        return (f"Only {len(self._cases[dataset])} cases.",)

    def run_cases(self, run_id: int) -> tuple[Case, ...]:
        return self._cases[self.find_run(run_id).config.dataset]

    def import_file(self, path: str, name: str = "", collection: str = "", format: str = "") -> Imported:
        if Path(path).suffix == ".py":
            raise UsageError("Not a dataset", "It is in no known format.", "Name its format.")
        self._cases[name] = self._demo_cases()[:2]
        problems = (
            RowProblem(3, "there is no [b]“question”[/b]"),
            RowProblem(7, "a gold span is empty", skipped=False),
        )
        dataset = replace(next(d for d in self.datasets() if d.name == name), collection=collection)
        brings = Path(path).suffix == ".squad" and not collection
        return Imported(dataset, problems if Path(path).suffix == ".toml" else (), "jsonl", brings)

    def unpack_documents(self, path: str) -> Unpacked:
        return Unpacked(Path(path).with_suffix(".documents"), 12, ())

    # -- runs ------------------------------------------------------------------------------------------------------

    def is_run_file(self, path: str) -> bool:
        return Path(path).suffix == ".run"

    def import_run(self, dataset: str, path: str, config: RunConfig) -> ImportedRun:
        imported = self._new(replace(config, title=Path(path).stem))
        self._finish(imported)
        return ImportedRun(self._runs[imported.id], (RowProblem(2, "it has not six columns"),))

    def runs(self, dataset: str = "") -> tuple[Run, ...]:
        return tuple(r for r in reversed(self._runs.values()) if dataset in {"", r.config.dataset})

    def find_run(self, run_id: int) -> Run:
        if run_id not in self._runs:
            raise NotFoundError("No such run", f"There is no run {run_id}.", "")
        return self._runs[run_id]

    def run(self, config: RunConfig, cancel: Cancel | None = None) -> Iterator[RunProgress]:
        yield from self._go_on(self._new(config), cancel)

    def sweep(self, configs: Sequence[RunConfig], cancel: Cancel | None = None) -> Iterator[RunProgress]:
        for config in configs:
            last: RunProgress | None = None
            for last in self.run(config, cancel):
                yield last
            if last and last.cancelled:
                return

    def ladder(self, run_ids: Sequence[int]) -> tuple[RunComparison, ...]:
        return tuple(self.compare(a, b) for a, b in pairwise(run_ids))

    def resume(self, run_id: int, cancel: Cancel | None = None) -> Iterator[RunProgress]:
        yield from self._go_on(self.find_run(run_id), cancel)

    def _go_on(self, run: Run, cancel: Cancel | None) -> Iterator[RunProgress]:
        known = self._results[run.id]
        yield RunProgress(run, "", 0.0, None)
        for position, case in enumerate(self._cases[run.config.dataset][: run.total]):
            if case.id in known:
                continue
            if cancel and cancel.wait(self._desk.slow):
                yield RunProgress(self._moved(run.id, "stopped"), "", 0.0, None, finished=True, cancelled=True)
                return
            known[case.id] = self._ask(run, case, position, run.config.ask, run.config.search)
            yield RunProgress(self._moved(run.id, "running"), case.id, 7.0, 2.0, (known[case.id],))
        yield RunProgress(self._moved(run.id, "complete"), "", 7.0, None, finished=True)

    def _moved(self, run_id: int, status: str) -> Run:
        results = self._results[run_id].values()
        done, passed = len(results), sum(bool(r.passed) for r in results)
        scored = sum(r.passed is not None for r in results) if status == "complete" else 0
        self._runs[run_id] = replace(
            self._runs[run_id],
            status=status,
            done=done,
            passed=passed,
            scored=scored,
        )
        return self._runs[run_id]

    def _ask(self, run: Run, case: Case, position: int, ask: AskOptions, search: SearchOptions) -> CaseResult:
        if run.config.layer == "retrieval":
            return self._retrieve(run, case, position, search)
        *_, asked = self._desk.ask(case.question, ask, search)
        self._desk.forget(asked)
        trace = replace(asked, id=f"e{run.id}-{case.id}")
        self.traces[trace.id] = trace
        return self._answered(self._retrieve(run, case, position, search), case, trace)

    def _retrieve(self, run: Run, case: Case, position: int, search: SearchOptions) -> CaseResult:
        found = self._desk.search(case.question, search)
        ranked = tuple(
            Ranked(
                view.hit.chunk_id,
                view.source_id,
                view.start,
                view.end,
                view.hit.rank,
                view.hit.lexical_rank,
                view.hit.dense_rank,
                max((g.grade for g in case.gold if (g.source_id, g.start) == (view.source_id, view.start)), default=0),
            )
            for view in found.hits
        )
        best = next((r.rank for r in ranked if r.grade), 0)
        held = sum(bool(r.grade) for r in ranked[:3])
        scores = {
            "hit@5": float(0 < best <= 3),
            "recall@5": held / max(1, len(case.gold)),
            "mrr": 1 / best if best else 0.0,
        }
        lost = bool(case.gold) and not scores["hit@5"]
        return CaseResult(
            run.id,
            case.id,
            position,
            passed=bool(scores["hit@5"]) if case.gold else None,
            scores=scores if case.gold else {},
            ranked=ranked,
            failure="not_retrieved" if lost else "",
            reason="The gold is not among the first 3 results." if lost else "",
            advice="Ask the dense lane too; take more candidates." if lost else "",
            duration_ms=12.0 + 3 * position,
        )

    def _answered(self, result: CaseResult, case: Case, trace: Trace) -> CaseResult:
        answer = trace.answer
        assert answer is not None
        ranked = tuple(
            replace(r, evidence=f"F{r.rank}") if r.rank <= 2 else replace(r, dropped="budget") for r in result.ranked
        )
        kept = any(r.grade and r.evidence for r in ranked)
        answered = answer.outcome == "answered"
        passed = answered and kept if case.answerable else not answered
        failure: FailureStage = ""
        if not passed:
            cut = any(r.grade for r in ranked)
            failure = "should_have_abstained" if not case.answerable else "cut" if cut else "not_retrieved"
        supported = sum(c.level == "supported" for c in answer.claims)
        scores = {"coverage": float(answered), **result.scores}
        if answer.claims:
            scores["groundedness"] = supported / len(answer.claims)
        return replace(
            result,
            passed=passed,
            scores=scores,
            ranked=ranked,
            answer=replace(answer, support=answer.support - 0.03 * result.position),
            failure=failure,
            reason="" if passed else "The gold was found, and the budget left it out.",
            advice="" if passed else "Fewer duplicates, or a budget of 1,200 tokens.",
            trace_id=trace.id,
            duration_ms=40.0 + 9 * result.position,
        )

    def results(self, run_id: int) -> tuple[CaseResult, ...]:
        return tuple(self._results[run_id].values())

    def result(self, run_id: int, case_id: str) -> CaseResult:
        return self._results[run_id][case_id]

    def rerun(
        self,
        run_id: int,
        case_id: str,
        config: RunConfig | None = None,
        cancel: Cancel | None = None,
    ) -> CaseResult:
        run, before = self.find_run(run_id), self.result(run_id, case_id)
        case = next(c for c in self.run_cases(run_id) if c.id == case_id)
        return self._ask(run, case, before.position, (config or run.config).ask, (config or run.config).search)

    def settled(self, config: RunConfig) -> RunConfig:
        return config

    def autopsy(self, run_id: int, case_id: str) -> tuple[str, ...]:
        case = next(c for c in self.run_cases(run_id) if c.id == case_id)
        return autopsy(case, self.result(run_id, case_id))

    def set_baseline(self, run_id: int) -> Run:
        for key, run in self._runs.items():
            self._runs[key] = replace(run, baseline=key == run_id)
        return self._runs[run_id]

    def delete_run(self, run_id: int) -> None:
        del self._runs[run_id]

    def report(self, run_id: int) -> RunReport:
        return make_report(self.find_run(run_id), self.results(run_id), self.run_cases(run_id))

    def compare(self, a: int, b: int) -> RunComparison:
        return compare_runs(self.find_run(a), self.results(a), self.find_run(b), self.results(b))

    def export_report(self, run_id: int, form: str = "markdown", against: int = 0) -> str:
        if form == "latex":
            return to_latex(ranking([self.report(run.id) for run in self.runs()]))
        compared = self.compare(against, run_id) if against else None
        page = report_page(self.report(run_id), self.results(run_id), comparison=compared)
        return to_html(page) if form == "html" else to_markdown(page)

    def export_ranking(self, run_ids: Sequence[int], form: str = "markdown") -> str:
        table = ranking([self.report(run_id) for run_id in run_ids])
        return to_latex(table) if form == "latex" else to_markdown(Page("", (table,)))

    # -- labels, gates, decisions ----------------------------------------------------------------------------------

    def label(self, run_id: int, case_id: str, value: int, note: str = "") -> Label:
        self._labels.append(Label(run_id, case_id, value, note, WHEN))
        return self._labels[-1]

    def labels(self, run_id: int) -> tuple[Label, ...]:
        return tuple({label.case_id: label for label in self._labels if label.run_id == run_id}.values())

    def undo_label(self, run_id: int) -> Label | None:
        return self._labels.pop() if self._labels else None

    def gate_sets(self, dataset: str = "") -> tuple[GateSet, ...]:
        return tuple(reversed(self._gates))

    def lock_gates(self, dataset: str, name: str, gates: Sequence[Gate]) -> GateSet:
        locked = WHEN + timedelta(hours=len(self._runs) + 0.5)
        self._gates.append(GateSet(len(self._gates) + 1, dataset, name, tuple(gates), locked))
        return self._gates[-1]

    def check_gates(self, run_id: int, gates: str) -> tuple[GateResult, ...]:
        return check_gates(self.report(run_id), next(g for g in self._gates if g.name == gates))

    def threshold(self, collection: str) -> float:
        return self.thresholds.get(collection, 0.53)

    def threshold_curve(self, run_id: int) -> tuple[ThresholdPoint, ...]:
        return risk_coverage(self.results(run_id), self.run_cases(run_id))

    def choose_threshold(self, collection: str, threshold: float) -> None:
        self.thresholds[collection] = threshold

    def decide(
        self,
        title: str,
        verdict: Verdict,
        runs: Sequence[int],
        *,
        context: str = "",
        options: Sequence[str] = (),
        reasons: Sequence[str] = (),
        evidence: Sequence[str] = (),
        conditions: str = "",
        review: str = "",
    ) -> DecisionRecord:
        shown = evidence or [f"run {run}: {self.find_run(run).passed} passed" for run in runs]
        lists = (tuple(options), tuple(reasons), tuple(shown), tuple(runs))
        number = len(self._decisions) + 1
        made = DecisionRecord(number, title, verdict, context, *lists, conditions, review, WHEN)
        self._decisions.append(made)
        return made

    def decisions(self) -> tuple[DecisionRecord, ...]:
        return tuple(reversed(self._decisions))

    def export_decision(self, decision_id: int) -> str:
        return decision_markdown(self._decisions[decision_id - 1])
