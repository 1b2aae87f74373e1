"""Datasets come in from every format: a bad row is named with its line, and the rest is there."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.data import shared
from workbench import demo
from workbench.errors import DocumentError, UsageError
from workbench.evals.formats import FORMATS, read_dataset, write_dataset
from workbench.evals.gold.anchors import Locator
from workbench.records.cases import (
    Case,
    Expectation,
    GoldSpan,
    ImportResult,
    RowProblem,
)


def read(folder: Path, name: str, text: str, locate: dict[str, GoldSpan] | None = None) -> ImportResult:
    file = folder / name
    file.write_text(text, "utf-8")
    return read_dataset(file, locate=locate.get if locate else None)


def lines(result: ImportResult) -> list[int]:
    return [problem.line for problem in result.problems if problem.skipped]


# -- our own ---------------------------------------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAME = TEXT.filter(str.strip)
SPANS = st.builds(
    lambda source, start, length, grade: GoldSpan(source, start, start + length, grade),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9),
    st.integers(0, 10**6),
    st.integers(1, 10**6),
    st.integers(0, 3),
) | st.builds(GoldSpan, st.just("whole.md"))
EXPECTATIONS = st.sampled_from(
    [
        Expectation("exact", "Paris"),
        Expectation("f1", "a b", 0.4),
        Expectation("numeric", "1234.5 kg", 0.5),
        Expectation("regex", r"\bab+c$"),
        Expectation("json_schema", '{"type": "object"}'),
        Expectation("sql", "SELECT 1", fixture="shop.db", ordered=True),
    ]
)
CASES = st.builds(
    Case,
    id=NAME,
    question=NAME,
    answerable=st.booleans(),
    gold=st.lists(SPANS, max_size=3).map(tuple),
    answers=st.lists(TEXT, max_size=3).map(tuple),
    type=TEXT,
    difficulty=TEXT,
    language=st.sampled_from(["", "en", "es"]),
    notes=TEXT,
    citations=st.lists(SPANS, max_size=2).map(tuple),
    negatives=st.lists(SPANS, max_size=2).map(tuple),
    filter=st.sampled_from(["", "year >= 2026", '"student" in roles and source_id != "a.md"']),
    criterion=TEXT,
    tags=st.lists(TEXT, max_size=3).map(tuple),
    expectation=st.none() | EXPECTATIONS,
)
DATASETS = st.lists(CASES, min_size=1, max_size=5, unique_by=lambda case: case.id)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("formats")


@settings(max_examples=60)
@given(cases=DATASETS)
@example(cases=[Case("0", "contexts", criterion='"contexts": [')])
def test_every_field_survives_our_own_format(folder: Path, cases: list[Case]) -> None:
    file = folder / "cases.jsonl"
    assert write_dataset(cases, file) == ()
    assert read_dataset(file) == ImportResult(tuple(cases), (), "jsonl")


@settings(max_examples=60)
@given(cases=DATASETS, name=st.sampled_from(["csv", "tsv"]))
def test_every_field_survives_a_table(folder: Path, cases: list[Case], name: str) -> None:
    def there(case: Case) -> bool:  # a cell of white space alone is an empty one
        return all(not t or t.strip() for t in (case.type, case.difficulty, case.notes, case.criterion))

    kept = [case for case in cases if there(case)]
    if not kept:
        return
    file = folder / f"cases.{name}"
    assert write_dataset(kept, file, name) == ()
    assert read_dataset(file, format=name).cases == tuple(kept)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("not json", "column 1: Expecting value"),
        ('{"id": "a"}', "“question” is missing"),
        ('{"id": "a", "question": "  "}', "“question” is missing"),
        ("[1, 2]", "not an object"),
        ('{"id": "ok", "question": "again"}', "first in line 1"),
        ('{"id": "a", "question": "x", "gold": "a.md"}', "“gold” is not a list"),
        ('{"id": "a", "question": "x", "gold": ["a.md"]}', "source_id"),
        ('{"id": "a", "question": "x", "gold": [{"source_id": "a", "start": 9, "end": 3}]}', "no extent: 9–3"),
        ('{"id": "a", "question": "x", "gold": [{"source_id": "a", "grade": 7}]}', "grades go from 0 to 3"),
        ('{"id": "a", "question": "x", "gold": [{"source_id": "a", "start": 1.5, "end": 3}]}', "no whole number"),
        ('{"id": "a", "question": "x", "answerable": "maybe"}', "neither true nor false"),
        ('{"id": "a", "question": "x", "filter": "year >"}', "year >"),
        ('{"id": "a", "question": "x", "expectation": {"kind": "regex", "value": "("}}', "pattern can't be understood"),
        ('{"id": "a", "question": "x", "expectation": {"kind": "magic", "value": "1"}}', "no kind of check"),
        ('{"id": "a", "question": "x", "expectation": {"kind": "sql", "value": "SELECT 1"}}', "empty"),
        ('{"id": "a", "question": "x", "expectation": {"kind": "exact"}}', "“expectation.value” is missing"),
        ('{"id": "a", "question": "x", "expectation": {}}', "“expectation.kind” is missing"),
        ('{"id": "a", "question": "x", "expectation": {"kind": ["f1"], "value": "y"}}', "“expectation.kind”"),
        ('{"id": "a", "question": "x", "expectation": {"kind": "f1", "value": "y", "tolerance": -1}}', "tolerance"),
        (r'{"id": "a", "question": "half \ud83d"}', "half of a character"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_bad_line_is_named_and_the_rest_comes_in(tmp_path: Path, row: str, told: str) -> None:
    result = read(
        tmp_path, "cases.jsonl", f'{{"id": "ok", "question": "q"}}\n\n{row}\n{{"id": "z", "question": "q"}}\n'
    )
    assert [case.id for case in result.cases] == ["ok", "z"]
    assert lines(result) == [3]
    assert told in result.problems[0].reason
    assert "\n" not in result.problems[0].reason
    assert "__init__" not in result.problems[0].reason


def test_a_misspelt_field_is_named_once_and_its_row_comes_in(tmp_path: Path) -> None:
    text = '{"id": "a", "question": "x", "answer": "y"}\n{"id": "b", "question": "x", "answer": "y"}\n'
    result = read(tmp_path, "cases.jsonl", text)
    assert len(result.cases) == 2
    assert [(p.line, p.skipped) for p in result.problems] == [(1, False)]
    assert "“answer”" in result.problems[0].reason


def test_a_separator_inside_a_text_ends_no_line(tmp_path: Path) -> None:
    assert (
        read(tmp_path, "cases.jsonl", '{"id": "a", "question": "one\u2028two"}\n').cases[0].question == "one\u2028two"
    )


@pytest.mark.parametrize("text", ["", " \n", '{"id": "a"}\n', "just prose, and no more of it\n", "[1, 2]"])
def test_what_gives_no_case_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(DocumentError):
        read(tmp_path, "cases.txt", text)


def test_what_is_not_there_and_what_is_binary_are_told(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="can't be read"):
        read_dataset(tmp_path / "nothing.jsonl")
    (tmp_path / "model.gguf").write_bytes(b"GGUF\x00\x01\x02\xff" * 40)
    with pytest.raises(DocumentError, match="can't be read"):
        read_dataset(tmp_path / "model.gguf")
    with pytest.raises(UsageError, match="There are: beir"):
        read_dataset(tmp_path / "model.gguf", format="parquet")


def test_windows_text_is_read_and_said(tmp_path: Path) -> None:
    file = tmp_path / "casos.csv"
    file.write_bytes("question;language\n¿Qué año?;es\n".encode("cp1252"))
    result = read_dataset(file)
    assert (result.cases[0].question, result.format) == ("¿Qué año?", "csv")
    assert [problem.skipped for problem in result.problems] == [False]


# -- tables ----------------------------------------------------------------------------------------------------------


def test_a_table_by_hand(tmp_path: Path) -> None:
    text = (
        "id,question,answerable,gold,answers,tags,colour\n"
        'a,"How, and\nwhy?",yes,a.md#3-9@2|b.md,21 days|three weeks,x,red\n'
        "\n"
        ",When?,,c d.md@3,,,\n"
        "b,Who?,perhaps,,,,\n"
        "c,What?,no,,,,,,\n"
    )
    result = read(tmp_path, "cases.csv", text)
    first, second = result.cases
    assert first.question == "How, and\nwhy?"
    assert first.gold == (GoldSpan("a.md", 3, 9, 2), GoldSpan("b.md"))
    assert first.answers == ("21 days", "three weeks")
    assert (second.id[:2], second.gold) == ("q-", (GoldSpan("c d.md", grade=3),))
    assert lines(result) == [6, 7]
    assert [p.reason for p in result.problems if not p.skipped] == ["there is no field “colour”: it was left out"]


# -- SQuAD -----------------------------------------------------------------------------------------------------------


def test_xquad_has_its_1190_questions_with_gold_paragraphs() -> None:
    result = read_dataset(shared("xquad", "xquad.es.json"))
    assert (len(result.cases), result.problems, result.format) == (1190, (), "squad")
    assert {case.language for case in result.cases} == {"es"}  # told by the questions: SQuAD has no place for it
    assert all(case.answers and case.gold for case in result.cases)
    assert result.cases[0].gold == (GoldSpan("Super_Bowl_50/1"),)


def test_squad_gold_is_the_answers_span_where_the_paragraph_is_found(tmp_path: Path) -> None:
    context = "The fee is 118.50 euros."
    good = {"id": 1, "question": "How much?", "answers": [{"text": "118.50 euros", "answer_start": 11}]}
    none = {"id": "2", "question": "Who pays?", "is_impossible": True, "answers": []}
    paragraph = {"context": context, "qas": [good, {"id": "3"}, none]}
    text = json.dumps({"data": [{"title": "t", "paragraphs": [paragraph]}, {"paragraphs": 3}]}, indent=1)
    result = read(tmp_path, "squad.json", text, {context: GoldSpan("fees.md", 100, 124)})
    answered, unanswered = result.cases
    assert answered.gold == (GoldSpan("fees.md", 111, 123, 3),)
    assert (unanswered.answerable, unanswered.gold) == (False, ())
    assert [text.splitlines()[line - 1].strip() for line in lines(result)] == ["{", "{"]
    assert '"id": "3"' in text.splitlines()[lines(result)[0]]


def test_squad_round_trip_with_the_documents_texts(tmp_path: Path) -> None:
    context = "The fee is 118.50 euros."
    cases = [
        Case("1", "How much?", gold=(GoldSpan("fees.md", 11, 23, 3),), answers=("118.50 euros",), language="en"),
        Case("2", "Who?", answerable=False, language="en"),
    ]
    file = tmp_path / "out.json"
    assert write_dataset(cases, file, "squad", text_of={"fees.md": context}.get) == ("language",)  # type: ignore[arg-type]  # get may give None, and doesn't here
    located = {context: GoldSpan("fees.md", 0, len(context))}.get
    assert read_dataset(file, locate=located).cases == tuple(cases)
    with pytest.raises(UsageError, match=r"fees\.md"):
        write_dataset(cases, file, "squad")


def test_squad_keeps_which_of_several_occurrences_is_the_gold(tmp_path: Path) -> None:
    context = "2 teams, 2 goals, and 2 more."
    cases = [
        Case("1", "Which goals?", gold=(GoldSpan("a.md", 9, 10, 3),), answers=("2",), language="en"),
        Case("2", "More?", gold=(GoldSpan("a.md", 22, 23, 3),), answers=("2", "2 more")),
        Case("3", "Xyz?", gold=(GoldSpan("a.md", 0, 1, 3), GoldSpan("a.md", 9, 10, 3)), answers=("2",)),
    ]
    file = tmp_path / "out.json"
    write_dataset(cases, file, "squad", text_of=lambda _name: context)
    again = read_dataset(file, locate={context: GoldSpan("a.md", 0, len(context))}.get).cases
    assert [case.gold[0].start for case in again] == [9, 22, 0]
    assert (again[0], again[2], again[1].answers) == (cases[0], cases[2], ("2", "2 more"))


def test_squad_says_which_gold_it_cannot_keep_and_makes_none_up(tmp_path: Path) -> None:
    texts = {"a.md": "2 teams, 2 goals.", "b.md": "3 teams."}
    kept = Case("1", "Goals?", gold=(GoldSpan("a.md", 9, 10, 3),), answers=("2",))
    task = Case("2", "1 + 1 =", expectation=Expectation("numeric", "2"))
    file = tmp_path / "out.json"
    assert write_dataset([kept, task], file, "squad", text_of=texts.__getitem__) == ("expectation",)
    assert read_dataset(file).cases[1].gold == ()  # it was a document called "/1"
    for gold in (
        (GoldSpan("a.md", 9, 10, 3), GoldSpan("b.md", 0, 1, 3)),  # an article has one document
        (GoldSpan("a.md", 9, 10, 1),),
        (GoldSpan("a.md", 0, 17, 3),),  # wider than the answer
        (GoldSpan("a.md", grade=3),),
        (GoldSpan("a.md", 9, 10, 3), GoldSpan("a.md", 0, 1, 0)),
    ):
        case = Case("1", "Goals?", gold=gold, answers=("2",))
        assert write_dataset([case], file, "squad", text_of=texts.__getitem__) == ("gold",), gold


def test_all_of_xquad_is_found_in_documents_of_another_cut(tmp_path: Path) -> None:
    source = shared("xquad", "xquad.es.json")
    articles = json.loads(source.read_text("utf-8"))["data"]
    texts = {
        f"{n}.txt": "\n\n".join(p["context"].strip("\ufeff ") for p in a["paragraphs"]) for n, a in enumerate(articles)
    }
    result = read_dataset(source, locate=Locator(texts.items))
    spans = [(case, span) for case in result.cases for span in case.gold]
    assert len(spans) == 1190
    assert all(texts[span.source_id][span.start : span.end] in case.answers for case, span in spans)


# -- BEIR and TREC ---------------------------------------------------------------------------------------------------


def beir_folder(folder: Path) -> Path:
    (folder / "qrels").mkdir(parents=True)
    queries = ['{"_id": "1", "text": "wings"}', "{", '{"_id": "2", "text": "flutter"}', '{"_id": "9", "text": "x"}']
    (folder / "queries.jsonl").write_text("\n".join(queries), "utf-8")
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "title": "", "text": "…"}\n', "utf-8")
    (folder / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\n2\td1\t1\n", "utf-8")
    rows = "query-id\tcorpus-id\tscore\n1\td1\t2\n1\td2\t0\n1\td3\tgood\n1\td4\n2\td5\t4\n2\td6\t-1\n"
    (folder / "qrels" / "test.tsv").write_text(rows, "utf-8")
    return folder


def test_a_beir_folder(tmp_path: Path) -> None:
    result = read_dataset(beir_folder(tmp_path / "mini"))
    wings, flutter = result.cases
    assert wings.gold == (GoldSpan("d1", grade=2), GoldSpan("d2", grade=0))
    assert flutter.gold == (GoldSpan("d1", grade=1), GoldSpan("d5", grade=3), GoldSpan("d6", grade=0))
    assert (wings.tags, flutter.tags) == (("test",), ("dev", "test"))
    assert lines(result) == [4, 5, 2]
    assert [p.reason for p in result.problems if not p.skipped] == [
        "qrels/test.tsv: grades beyond 0–3 became 0 or 3",
        "1 queries have no judgement and stayed out",
        "qrels: 3 judged documents aren't there: d5, d6, d2",
    ]


def test_beir_keeps_our_other_fields(tmp_path: Path) -> None:
    cases = read_dataset(demo.cases_file()).cases
    lost = write_dataset(cases, tmp_path / "out", "beir", text_of=lambda name: f"text of {name}")
    assert lost == ("gold.end", "gold.start")  # judged as wholes, which a person is told
    result = read_dataset(tmp_path / "out")
    assert result.problems == ()
    for case, again in zip(cases, result.cases, strict=True):
        assert again.answers == case.answers
        assert {g.source_id for g in again.gold} == {g.source_id for g in case.gold}
        assert (again.answerable, again.type, again.tags) == (case.answerable, case.type, case.tags)
    assert "text of en/laser-cutter.html" in (tmp_path / "out" / "corpus.jsonl").read_text("utf-8")


def test_what_no_judgement_holds_comes_back_by_itself_or_is_told(tmp_path: Path) -> None:
    cases = [
        Case("1", "wings?", gold=(GoldSpan("a.md"),)),
        Case("2", "1 + 1 =", expectation=Expectation("numeric", "2", 0.1)),
        Case("3", "moons?", answerable=False),
        Case("4", "who?"),
    ]
    assert write_dataset(cases, tmp_path / "beir", "beir") == ("1 cases without gold",)
    back = read_dataset(tmp_path / "beir").cases
    assert [(case.id, case.expectation, case.answerable) for case in back] == [
        (case.id, case.expectation, case.answerable) for case in cases[:3]
    ]
    assert "3 cases without gold" in write_dataset(cases, tmp_path / "trec", "trec")
    assert [case.id for case in read_dataset(tmp_path / "trec").cases] == ["1"]


def test_trec_topics_with_open_tags_and_qrels(tmp_path: Path) -> None:
    topics = """<top>
<num> Number: 301
<title> International Organized Crime &amp; law
<desc> Description:
Identify organizations.
<narr> Narrative:
A relevant document names one.
</top>
<top><num> Number: 302 <title> Poliomyelitis </top>
<top><num> Number: 303 <title> </top>
"""
    (tmp_path / "topics.301-303").write_text(topics, "utf-8")
    (tmp_path / "qrels.txt").write_text("301 0 FBIS3-1 1\n301 0 FBIS3-2 0\nbad\n303 0 X 1\n", "utf-8")
    for path in (tmp_path, tmp_path / "topics.301-303"):
        result = read_dataset(path)
        (case,) = result.cases
        assert (case.id, case.question) == ("301", "International Organized Crime & law")
        assert (case.notes, case.criterion) == ("Identify organizations.", "A relevant document names one.")
        assert case.gold == (GoldSpan("FBIS3-1"), GoldSpan("FBIS3-2", grade=0))
        assert lines(result) == [3, 10]
        assert result.problems[-1] == RowProblem(0, "1 queries have no judgement and stayed out", skipped=False)


def test_trec_round_trip_with_names_that_have_spaces(tmp_path: Path) -> None:
    cases = [Case("q 1", "R&D <fees>?", gold=(GoldSpan("año 50%.md", grade=3),), notes="n", criterion="c")]
    assert write_dataset(cases, tmp_path / "out", "trec") == ()
    assert read_dataset(tmp_path / "out").cases == tuple(cases)
    placed = [Case("1", "x?", gold=(GoldSpan("a.md", 3, 9),))]
    assert write_dataset(placed, tmp_path / "placed", "trec") == ("gold.end", "gold.start")


def test_two_files_of_judgements_are_a_question(tmp_path: Path) -> None:
    (tmp_path / "topics").write_text("<top><num>1<title>x</top>", "utf-8")
    for name in ("qrels.a", "qrels.b"):
        (tmp_path / name).write_text("1 0 d 1\n", "utf-8")
    with pytest.raises(DocumentError, match="2 files"):
        read_dataset(tmp_path)


# -- promptfoo and Ragas ---------------------------------------------------------------------------------------------

PROMPTFOO = """\
prompts: ["{{question}}"]
tests:
  - description: capital
    vars: {question: "What is the capital of France?"}
    assert:
      - {type: icontains, value: "Paris (city)"}
      - type: latency
        threshold: 5
      - {type: similar, value: "Paris is the capital."}
  - vars: {topic: bees}
  - vars: {question: "Return an object."}
    assert: [{type: is-json, value: {type: object}}, {type: equals, value: "{}"}]
  - vars: {question: "Why?"}
    assert:
      - {type: llm-rubric, value: "is polite"}
      - {type: javascript, value: "output.length < 5"}
"""


def test_promptfoo_maps_what_it_can_and_names_the_rest(tmp_path: Path) -> None:
    result = read(tmp_path, "promptfooconfig.yaml", PROMPTFOO)
    capital, returned, why = result.cases
    assert capital.expectation == Expectation("regex", r"(?i)Paris\ \(city\)")
    assert capital.answers == ("Paris is the capital.",)
    assert returned.expectation == Expectation("json_schema", '{"type": "object"}')
    assert (why.criterion, why.expectation) == ("is polite", None)
    assert lines(result) == [10]
    assert "question" in next(p.reason for p in result.problems if p.skipped)
    assert [(p.line, p.reason.split("“")[1].split("”")[0]) for p in result.problems if not p.skipped] == [
        (7, "latency"),
        (9, "similar"),
        (12, "equals"),
        (16, "javascript"),
    ]


@pytest.mark.parametrize("text", ["tests: [1, 2\n", "tests: none\n", "tests: !!python/object:os.system x\n"])
def test_promptfoo_that_is_none(tmp_path: Path, text: str) -> None:
    with pytest.raises(DocumentError):
        read(tmp_path, "promptfoo.yaml", text)


def test_promptfoo_round_trip(tmp_path: Path) -> None:
    cases = (
        Case("a", "Zzz: é?", answers=("So",), criterion="brief"),
        Case("b", "1+1?", expectation=Expectation("exact", "2")),
    )
    lost = write_dataset(cases, tmp_path / "tests.yaml", "promptfoo")
    assert read_dataset(tmp_path / "tests.yaml").cases == cases
    assert lost == ()


def test_promptfoo_names_the_cases_whose_check_it_has_none_for(tmp_path: Path) -> None:
    cases = [
        Case("a", "1+1?", expectation=Expectation("numeric", "2", 0.5)),
        Case("b", "2+1?", expectation=Expectation("numeric", "3")),
        Case("c", "Say it.", expectation=Expectation("f1", "so", 0.5)),
        Case("d", "1+1?", expectation=Expectation("exact", "2")),
    ]
    assert write_dataset(cases, tmp_path / "t.yaml", "promptfoo") == ("f1 checks: 1 (c)", "numeric checks: 2 (a, b)")


def test_ragas_gold_is_found_in_the_documents(tmp_path: Path) -> None:
    rows = [
        {"user_input": "How much?", "reference": "118.50", "reference_contexts": ["The fee", "elsewhere"]},
        {"question": "When?", "ground_truth": "May", "contexts": ["The fee"]},
        {"question": "Who?", "ground_truth": "Ann", "contexts": ["The fee"], "answer": "what a system said"},
        {"user_input": [{"content": "hi"}], "reference": "x"},
    ]
    gold = GoldSpan("fees.md", 5, 12)
    expected = GoldSpan("fees.md", 5, 12, 3)
    for text in (json.dumps(rows, indent=1), "\n".join(map(json.dumps, rows))):
        result = read(tmp_path, "ragas.json", text, {"The fee": gold})
        much, when, who = result.cases
        assert result.format == "ragas"
        assert (much.answers, much.gold) == (("118.50",), (expected,))
        assert (when.gold, who.gold) == ((expected,), ())
        assert len(lines(result)) == 1
        assert "elsewhere" in next(p.reason for p in result.problems if not p.skipped)


def test_ragas_as_csv_and_as_columns(tmp_path: Path) -> None:
    text = "user_input,reference_contexts,reference\nHow much?,\"['The fee', 'The ''fee']\",118\n"
    result = read(tmp_path, "ragas.csv", text, {"The fee": GoldSpan("fees.md", 5, 12)})
    assert (result.format, result.cases[0].gold) == ("ragas", (GoldSpan("fees.md", 5, 12, 3),))
    columns = '{"question": ["a?", "b?"], "contexts": [["x"], ["y"]], "ground_truth": ["1", "2"]}'
    assert [case.answers for case in read(tmp_path, "r.json", columns).cases] == [("1",), ("2",)]


# -- all of them -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - {"squad"}))
def test_a_format_recognises_what_it_writes_and_says_what_it_lost(tmp_path: Path, name: str) -> None:
    cases = read_dataset(demo.cases_file()).cases
    lost = write_dataset(cases, tmp_path / "out", name)
    result = read_dataset(tmp_path / "out")
    assert result.format == name
    assert {case.question for case in result.cases} <= {case.question for case in cases}
    there = {case.question: case for case in cases}
    assert len(result.cases) == len(there) or "answerable" in lost
    for field in {"id", "answers", "type", "language", "notes"} - set(lost):
        assert all(getattr(case, field) == getattr(there[case.question], field) for case in result.cases)


@settings(max_examples=80)
@given(text=st.text(max_size=200), name=st.sampled_from(sorted(FORMATS.keys() - {"beir"})))
def test_no_text_crashes_a_reader(folder: Path, text: str, name: str) -> None:
    file = folder / "hostile"
    file.write_bytes(text.encode("utf-8", "replace"))
    with contextlib.suppress(DocumentError):
        assert read_dataset(file, format=name).cases
