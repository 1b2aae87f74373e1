"""Reports: what they say, and that hostile text in them stays text."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.evals_metrics.builders import WHEN, case, result, run
from workbench.evals.deciding.gates import check_gates, parse_gate
from workbench.evals.measuring.compare import compare_runs
from workbench.evals.measuring.scoring import make_report
from workbench.evals.reporting.markup import (
    Bullets,
    Heading,
    Page,
    Paragraph,
    Table,
    latex_text,
    to_html,
    to_latex,
    to_markdown,
    without_escapes,
)
from workbench.evals.reporting.naming import run_words
from workbench.evals.reporting.reports import (
    comparison_page,
    decision_markdown,
    ranking,
    report_page,
    runs_table,
    stage_title,
)
from workbench.records.answers import AskOptions
from workbench.records.codec import decode, encode
from workbench.records.evals import DecisionRecord, GateSet, Label, Prices, RunConfig, RunReport
from workbench.records.retrieval import SearchOptions
from workbench.retrieval.rerank import DEPTH
from workbench.text.clean import printable

HOSTILE = "<script>alert(1)</script> | [x](javascript:y) `*_#&lt; \x1b[31m \u202e %\\input{a} $x$\n# h"


def _report(passed: int = 30, run_id: int = 1, title: str = "") -> RunReport:
    cases = [case(f"c{i}", type="table" if i < 20 else "direct") for i in range(40)]
    results = [
        result(f"c{i}", i < passed, {"recall@5": float(i < passed)}, failure="" if i < passed else "cut", ms=5.0)
        for i in range(40)
    ]
    return make_report(run(run_id, RunConfig("faq", title=title)), results, cases)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def _rendered(page: Page) -> str:
    return str(MarkdownIt("commonmark").enable("table").render(to_markdown(page)))


def _parsed(html: str) -> _Tags:
    parser = _Tags()
    parser.feed(html)
    return parser


def test_a_report_tells_figures_with_intervals_failures_segments_and_manifest() -> None:
    report = _report()
    failed = [result("c39", False, failure="cut", output="Nine " * 90)]
    labels = [Label(1, "c39", 1, "the source says nine", WHEN)]
    gates = GateSet(1, "faq", "release", (parse_gate("recall@5 >= 0.85"),), WHEN)
    page = report_page(report, failed, [(gates, check_gates(report, gates))], None, {"c39": "How many?"}, labels)
    text = to_markdown(page)
    for piece in (
        "# Run \\#1 hybrid rrf\n\n- Dataset: faq",
        "| Recall@5 | 0.750 | \\[0.598, 0.858\\] | 40 | Wilson |",
        "| retrieved but cut | 10 |",
        "## By type",
        "| Latency p95 | 5.0 ms | \\[5.0, ∞) | 40 |",
        "| table | 20 | 1.000 \\[0.839, 1.000\\]",
        f"## Gates: release, locked {WHEN:%Y-%m-%d %H:%M}",
        "| recall@5 \\>= 0.85 | fails | 0.750 (n = 40) misses 0.850. |",
        "| c39 | How many? | Nine Nine",
        "Nine… | retrieved but cut |",
        "| c39 | right | retrieved but cut | the source says nine |",
        "| ask.evidence | 5 |",
    ):
        assert piece in text, piece
    tables = MarkdownIt("commonmark").enable("table").render(text).count("<table>")
    assert tables == 7


def test_a_comparison_tells_the_verdict_and_lists_the_flips() -> None:
    before, after = ([result(f"c{i}", i in passed) for i in range(4)] for passed in ({0, 1}, {1, 2, 3}))
    text = to_markdown(comparison_page(compare_runs(run(1), before, run(2, index_id=9), after)))
    assert "2 fixed, 1 broken: not significant (McNemar p = 1.00)" in text
    assert "## Fixed (2)\n\n- c2\n- c3\n" in text
    assert "- index\\_id" in text
    assert "| Passed | 0.500" in text


def test_a_report_has_the_comparison_too_in_either_form_and_says_when_gates_came_late() -> None:
    before, after = ([result(f"c{i}", i in passed) for i in range(4)] for passed in ({0, 1}, {1, 2, 3}))
    compared = compare_runs(run(1), before, run(2, index_id=9), after)
    late = GateSet(1, "faq", "release", (parse_gate("pass_rate >= 0.5"),), WHEN + timedelta(days=1))
    page = report_page(_report(), (), [(late, check_gates(_report(), late))], compared)
    for text in (to_markdown(page).replace("\\", ""), _parsed(to_html(page)).text):
        assert "#1 hybrid rrf → #2 hybrid rrf" in text
        assert "2 fixed, 1 broken" in text
        assert "“release” were written after the run began: passing them proves nothing." in text
    assert "### Fixed (2)" in to_markdown(page)


def test_html_runs_nothing_and_loads_nothing() -> None:
    report = _report(title=HOSTILE)
    failed = [result(HOSTILE, False, failure="cut", error=HOSTILE)]
    parsed = _parsed(to_html(report_page(report, failed)))
    allowed = {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "h1",
        "h2",
        "h3",
        "ul",
        "li",
        "table",
        "thead",
        "tbody",
    }
    assert set(parsed.tags) <= allowed | {"tr", "th", "td", "p"}
    assert set(parsed.attributes) <= {"lang", "charset", "http-equiv", "content", "name", "class"}
    assert "<script>alert(1)</script>" in parsed.text, "it is shown as text"
    assert "\x1b" not in parsed.text
    assert "\u202e" not in parsed.text


def test_markdown_shows_hostile_text_as_text() -> None:
    page = Page(
        HOSTILE, (Paragraph(HOSTILE), Bullets((HOSTILE,)), Table(("a", "b"), ((HOSTILE, "x"),)), Heading("- x"))
    )
    html = _rendered(page)
    parsed = _parsed(html)
    assert sorted(set(parsed.tags)) == ["h1", "h2", "li", "p", "table", "tbody", "td", "th", "thead", "tr", "ul"]
    assert parsed.text.count("[x](javascript:y)") == 4
    assert parsed.tags.count("td") == 2


@given(st.text(max_size=60))
def test_any_text_is_read_back_from_markdown_and_html(text: str) -> None:
    in_html = _parsed(to_html(Page("t", (Paragraph(text),)))).text.split("t\n", 2)[-1]
    assert in_html.split() == printable(text).split()
    in_markdown = _parsed(_rendered(Page("t", (Table(("head",), ((text,),)), Paragraph(text)))))
    assert set(in_markdown.tags) <= {"h1", "table", "thead", "tr", "th", "tbody", "td", "p"}
    assert in_markdown.attributes == []
    shown = printable(" ".join(text.split()), newlines=False).split()
    assert in_markdown.text.split() == ["t", "head", *shown, *shown]
    assert without_escapes(to_markdown(Page("t", (Paragraph(text),)))).split() == ["#", "t", *shown]


@pytest.mark.parametrize(
    ("title", "row"),
    [
        ("τ=0.5 κ", r"$\tau$=0.5 $\kappa$ \\"),
        ("[0.1] first", r"{}[0.1] first \\"),  # else the end of the row before would read it as a length
        ("* star", r"{}* star \\"),
        ("a|b --vary", r"a\textbar{}b -{}-vary \\"),
        ("«piloto»", r"$\ll$piloto$\gg$ \\"),
    ],
)
def test_latex_rows_compile_with_pdflatex(title: str, row: str) -> None:
    table = to_latex(Table(("Run",), ((title,),)))
    assert row in table.splitlines()
    assert not table.startswith("%")


@pytest.mark.parametrize("title", ["日本", "✓", "ąę", "🚀"])
def test_latex_that_pdflatex_cannot_set_says_so_above(title: str) -> None:
    table = to_latex(Table(("Run",), ((title,),)))
    assert table.startswith("% Some of these characters need XeLaTeX")
    assert title in table


def test_latex_is_escaped() -> None:
    assert latex_text("50% & #1_a {x} ~^\\ <≥") == (
        r"50\% \& \#1\_a \{x\} \textasciitilde{}\textasciicircum{}\textbackslash{} \textless{}$\geq$"
    )
    assert to_latex(Table(("Run", "n"), (("a_b", "40"),), (1,))) == (
        "\\begin{tabular}{lr}\n\\hline\nRun & n \\\\\n\\hline\na\\_b & 40 \\\\\n\\hline\n\\end{tabular}\n"
    )


def test_runs_of_several_k_stand_in_one_column_each_with_its_own() -> None:
    runs = [
        make_report(
            run(n, RunConfig("faq", title=f"k={k}")), [result("a", True, {f"recall@{k}": value, "mrr": 0.5})], []
        )
        for n, (k, value) in enumerate([(1, 0.4), (5, 0.9)], 1)
    ]
    table = ranking(runs)
    assert table.head[:4] == ("Run", "n", "Passed", "Recall@k")
    assert [row[3][:5] for row in runs_table(runs).rows] == ["0.400", "0.900"]
    assert runs_table(runs[:1]).head[3] == "Recall@1"


def test_a_ranking_puts_the_best_first_and_those_without_the_metric_last() -> None:
    lacking = make_report(run(9, RunConfig("faq", title="none")), [result("a", None)], [])
    table = to_latex(ranking([lacking, _report(20, 1, "worse"), _report(35, 2, "better")]))
    rows = table.splitlines()[4:7]
    assert [row.split(" & ")[0] for row in rows] == [r"\#2 better", r"\#1 worse", r"\#9 none"]
    assert "0.875 [0.739, 0.945]" in rows[0]
    assert rows[2].endswith(r"– & – \\")
    assert " n=" not in rows[0]  # the row's own n
    assert r"5.0 ms [5.0, $\infty$)" in to_latex(ranking([_report()]))


def test_an_interval_of_fewer_cases_than_the_row_tells_its_own_n() -> None:
    scored = [result(f"c{i}", i < 9, {"recall@5": float(i < 9)}) for i in range(10)]
    unscored = [result(f"u{i}", None) for i in range(4)]
    report = make_report(run(1, RunConfig("faq")), [*scored, *unscored], [])
    (row,) = to_latex(ranking([report])).splitlines()[4:5]
    assert row.split(" & ")[1] == "14"
    assert row.endswith(r"] n=10 \\")


def test_a_ranked_run_without_a_title_is_named_by_what_it_ran_and_what_was_set() -> None:
    plain = RunConfig("faq", layer="chain")
    other = replace(plain, ask=AskOptions(threshold=0.7, evidence=2, budget=900), exclude_gold=True)
    met = replace(plain, search=SearchOptions(rerank="none", rerank_depth=DEPTH), prices=Prices(hour=1.0))
    reports = [make_report(run(n, c, model="SmolLM2"), [result("a", True)], []) for n, c in enumerate((other, met), 3)]
    table = to_latex(ranking(reports))
    assert r"\#3 evidence=2 · $\tau$=0.7 · budget=900 · gold left out · whole chain · hybrid rrf · SmolLM2 & 1" in table
    assert r"\#4 whole chain · hybrid rrf · SmolLM2 & 1" in table


def test_runs_are_told_apart_by_their_cases_by_a_stored_threshold_and_by_what_a_sweep_left_fixed() -> None:
    chain, swept = RunConfig("faq", layer="chain"), RunConfig("faq", title="k0=10")
    lexical = SearchOptions(lanes=("lexical",), k0=10, rerank="none", rerank_depth=DEPTH)
    plain = replace(chain, search=replace(lexical, lanes=("lexical", "dense"), k0=60))
    stored = run(1, plain, settings={"support.threshold": 0.9})
    assert run_words(stored) == run_words(run(2, replace(plain, ask=AskOptions(threshold=0.9))))
    assert run_words(stored) == "τ=0.9 · whole chain · hybrid rrf"
    assert run_words(run(3, plain, settings={"support.threshold": 0.5})) == "whole chain · hybrid rrf"
    assert run_words(run(4, replace(plain, limit=5))) == "first 5 · whole chain · hybrid rrf"
    assert run_words(run(5, replace(swept, search=lexical))) == "k0=10 · lexical"
    assert run_words(run(6, replace(swept, search=replace(plain.search, k0=10)))) == "k0=10 · hybrid rrf"
    assert run_words(run(7, replace(plain, title="lane=both", limit=5))) == "lane=both · first 5 · whole chain"
    assert run_words(run(8, replace(plain, title="my own = 3"))) == "my own = 3"
    weighed = replace(plain.search, fusion="weights", weights=(("lexical", 0.25), ("dense", 1)))
    assert run_words(run(10, replace(plain, search=weighed))).startswith("weights=lexical 0.25 dense 1 · whole chain")
    assert run_words(run(9, replace(plain, search=SearchOptions(lanes=(), rerank="none")))).endswith("whole chain")


def test_runs_side_by_side_show_what_any_of_them_has_and_rather_what_differs() -> None:
    same = {"recall@5": 1.0, "ndcg@5": 1.0, "mrr": 1.0, "groundedness": 1.0, "citation_precision": 1.0}
    cases = [case(f"c{i}") for i in range(2)]
    reports = [
        make_report(
            run(n, RunConfig("faq", layer="chain")),
            [result(f"c{i}", i == 0, {**same, "coverage": float(i < n)}, ms=5.0 * n) for i in range(2)],
            cases,
        )
        for n in (1, 2)
    ]
    table = runs_table(reports)
    assert table.head[2:] == ("Passed", "Recall@5", "nDCG@5", "MRR", "Coverage", "Latency p95")
    assert [row[6][:5] for row in table.rows] == ["0.500", "1.000"]
    assert "–" not in {cell for row in table.rows for cell in row}
    searched = runs_table([*reports, _report()])
    assert searched.head[2:] == ("Passed", "Recall@5", "nDCG@5", "MRR", "Groundedness", "Citation precision")
    assert [cell == "–" for cell in searched.rows[2][2:]] == [False, False, True, True, True, True]


def test_a_ranking_says_below_which_runs_are_of_other_cases() -> None:
    few = make_report(run(7, RunConfig("faq", limit=5)), [result("c1", True, {"recall@5": 1.0}, ms=5.0)], [])
    table = ranking([few, _report(20, 1, "worse"), _report(35, 2, "better")])
    assert [row[0].split()[0] for row in table.rows] == ["#2", "#1", "#7"]
    told = "Best: #2 better. No other interval reaches its own. Runs of other cases aren't ranked: #7 (n 1)."
    assert told in table.note
    assert to_latex(table).rstrip().endswith(latex_text(table.note))
    assert "\n\nBest: \\#2 better." in to_markdown(Page("t", (table,)))


def test_a_ranking_of_nothing_is_a_table() -> None:
    assert to_latex(ranking([])).startswith("\\begin{tabular}")


def test_a_decision_record() -> None:
    decision = DecisionRecord(
        id=1,
        title="Keep Q4",
        verdict="measure_more",
        context="Two quantizations.",
        options=("Q4", "Q8"),
        reasons=("Not significant",),
        evidence=("3 fixed, 2 broken",),
        runs=(1, 2),
        conditions="",
        review="in June",
        created=WHEN,
    )
    text = decision_markdown(decision)
    assert text.startswith("# Keep Q4\n\n- Verdict: measure more\n- Date: 2026-05-25 12:00\n\n## Context\n")
    assert "## Runs\n\n- \\#1\n- \\#2\n" in text
    assert "Conditions" not in text
    assert text.endswith("## Review\n\nin June\n")


def test_reports_are_json_that_any_program_reads() -> None:
    report = _report()
    read = json.loads(json.dumps(encode(report), allow_nan=False))
    assert read["segments"][0]["metrics"]["latency_p95_ms"]["high"] is None
    assert decode(RunReport, read) == report
    comparison = compare_runs(run(1), [result("a", ms=1.0)], run(2), [result("a", False, ms=2.0)])
    json.loads(json.dumps(encode(comparison), allow_nan=False))
    assert "Passed" in to_html(comparison_page(comparison))


def test_reports_in_spanish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_LANG", "es")
    assert stage_title("not_retrieved") == "no recuperado"
    text = to_markdown(report_page(_report()))
    assert "## Métricas" in text
    assert "## Por tipo" in text
