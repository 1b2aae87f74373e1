"""promptfoo's prompts and assertions: filled in, joined, or named with their line; hostile ones do nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from workbench.errors import DocumentError
from workbench.evals.formats import read_dataset
from workbench.evals.tasks.checks import check
from workbench.records.cases import Case, ImportResult


def read(folder: Path, text: str) -> ImportResult:
    file = folder / "promptfooconfig.yaml"
    file.write_text(text, "utf-8")
    return read_dataset(file)


def notes(result: ImportResult, *, skipped: bool) -> list[tuple[int, str]]:
    return [(p.line, p.reason) for p in result.problems if p.skipped == skipped]


TWO_PROMPTS = """\
prompts:
  - "Q: {{ q }}"
  - {label: polite, raw: "Please, {{ q | lower }}{% if hint %} ({{ hint }}){% endif %}"}
defaultTest:
  vars: {hint: ""}
  assert:
    - {type: latency, threshold: 9}
tests:
  - description: capital
    vars: {q: "Capital of France?"}
    assert: [{type: icontains, value: paris}]
  - vars: {q: "Of Spain?", hint: "one word"}
    assert: [{type: equals, value: Madrid}]
"""


def test_each_prompt_with_each_test_is_a_case(tmp_path: Path) -> None:
    result = read(tmp_path, TWO_PROMPTS)
    assert [(c.question, c.tags) for c in result.cases] == [
        ("Q: Capital of France?", ("prompt 1",)),
        ("Please, capital of france?", ("polite",)),
        ("Q: Of Spain?", ("prompt 1",)),
        ("Please, of spain? (one word)", ("polite",)),
    ]
    ids = [c.id for c in result.cases]
    assert ids[:2] == ["capital/p1", "capital/p2"]
    assert ids[2].removesuffix("/p1") == ids[3].removesuffix("/p2")
    assert [c.expectation.kind for c in result.cases if c.expectation] == ["regex", "regex", "exact", "exact"]
    (told,) = notes(result, skipped=False)  # once, though every test has it
    assert told[0] == 7
    assert "latency" in told[1]


def test_one_prompt_leaves_the_ids_alone_and_lists_of_values_make_tests(tmp_path: Path) -> None:
    text = (
        'prompts: "In {{lang}}: {{q}}"\ntests: [{description: hello, vars: {lang: [French, Spanish], q: [hi, bye]}}]\n'
    )
    result = read(tmp_path, text)
    assert [(c.id, c.question) for c in result.cases] == [
        ("hello/1", "In French: hi"),
        ("hello/2", "In French: bye"),
        ("hello/3", "In Spanish: hi"),
        ("hello/4", "In Spanish: bye"),
    ]


def test_words_of_yaml_1_1_stay_words(tmp_path: Path) -> None:
    text = (
        "prompts: 'Say {{word}} at {{time}}, {{n}} times, {{sure}}, {{one}} of {{all}};"
        " {{no}}{{mode}} {{k}} {{x}} {{is}}'\n"
        "tests:\n- vars: {word: yes, time: 12:30, n: 3, sure: true, one: 1, all: {a: 2},\n"
        "    no: null, mode: 0777, k: 1e3, x: 0x10, is: =}\n"
        "  assert: [{type: equals, value: no}]\n"
    )
    (case,) = read(tmp_path, text).cases
    assert case.question == "Say yes at 12:30, 3 times, true, 1 of {'a': 2}; 777 1000 16 ="
    assert case.expectation is not None
    assert case.expectation.value == "no"


def test_a_loop_goes_through_lists_that_are_kept_whole_and_through_objects(tmp_path: Path) -> None:
    result = read(
        tmp_path,
        "prompts: ['{% for d in docs %}{{ loop.index }}. {{ d.text }} {% endfor %}"
        "{% for name, value in who %}{{ name }}={{ value }}{% if not loop.last %}, {% endif %}{% endfor %}? {{ q }}']\n"
        "tests:\n"
        "  - description: one\n"
        "    options: {disableVarExpansion: true}\n"
        "    vars: {docs: [{text: A}, {text: B}], who: {name: Ada, age: 7}, q: Why}\n",
    )
    assert [(c.id, c.question) for c in result.cases] == [("one", "1. A 2. B name=Ada, age=7? Why")]
    assert result.problems == ()


def test_prompts_without_tests_and_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "two.txt").write_text("First.\n---\nSecond.\n", "utf-8")
    result = read(tmp_path, "prompts: [file://two.txt, 'Third.']\ntests: [{assert: [{type: contains, value: x}]}]\n")
    assert [c.question for c in result.cases] == ["First.", "Second.", "Third."]
    assert [c.tags for c in result.cases] == [("two.txt",), ("two.txt",), ("prompt 3",)]


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("{{ absent }}", "absent"),
        ("{{ q.", "can't be read"),
        ("{% for i in q %}x{% endfor %}", "a list or an object"),
        ("{% for i in m %}" * 5 + "x" + "{% endfor %}" * 5, "10,000 rounds"),
        ("{% for i in m %}" * 2 + "x" * 9000 + "{% endfor %}" * 2, "100,000 characters"),
        ("{% for i in m %}" * 25 + "x" + "{% endfor %}" * 25, "nested too deeply"),
        ("{% if q %}" * 200 + "x" + "{% endif %}" * 200, "nested too deeply"),
        ("{{ " + "(" * 5000 + "q" + ")" * 5000 + " }}", "nested too deeply"),
        ("{{ m | _rounds(true) }}", "_rounds"),
        ("{{ loop.cycle(1) }}", "call"),
        ("{{ range(10) }}", "call"),
        ("{{ 'x' * 999999999 }}", "mul"),
        ("{{ q | center(999999999) }}", "center"),
        ("{{ ''.__class__.__mro__ }}", "__class__"),
        ("{% include '/etc/passwd' %}", "include"),
        ("file:///etc/passwd", "/etc/passwd"),
        ("file://../secret.txt", "../secret.txt"),
        ("file://absent.txt", "no such file"),
        ('[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "{{q}}"}]', "chat prompt"),
        ("[1]", "text"),
    ],
)
def test_a_prompt_that_does_more_than_fill_in_is_named(tmp_path: Path, prompt: str, told: str) -> None:
    (tmp_path.parent / "secret.txt").write_text("secret", "utf-8")
    entry = yaml.safe_load(prompt) if prompt == "[1]" else prompt
    many = {"m": {str(n): n for n in range(9)}}
    config = {"prompts": ["Fine: {{q}}", entry], "tests": [{"vars": {"q": "why?", **many}}]}
    result = read(tmp_path, yaml.safe_dump(config))
    assert [c.question for c in result.cases] == ["Fine: why?"]
    ((_, reason),) = notes(result, skipped=True)
    assert told in reason


def test_what_is_true_of_many_tests_is_told_once(tmp_path: Path) -> None:
    test = "  - vars: {question: %s}\n    assert: [{type: similar, value: x}]\n"
    result = read(tmp_path, "tests:\n" + "".join(test % name for name in ("a", "b", "c")))
    ((line, told),) = notes(result, skipped=False)
    assert (line, len(result.cases)) == (3, 3)
    assert told.endswith("(3 times)")


def test_when_no_prompt_can_be_used_nothing_comes_in(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="include"):
        read(tmp_path, "prompts: ['{% include a %}']\ntests: [{vars: {question: why}}]\n")


def test_an_assertion_written_once_is_read_where_it_is_referred_to(tmp_path: Path) -> None:
    result = read(
        tmp_path,
        "assertionTemplates: {paris: {type: icontains, value: paris}}\n"
        "tests:\n"
        "  - vars: {question: 'Capital of France?'}\n"
        "    assert: [{$ref: '#/assertionTemplates/paris'}]\n"
        "  - vars: {question: 'Of Spain?'}\n"
        "    assert: [{$ref: '#/assertionTemplates/absent'}]\n",
    )
    first = result.cases[0]
    assert first.expectation is not None
    assert check(first.expectation, "It is PARIS.").passed
    assert not check(first.expectation, "Rome").passed
    ((line, told),) = notes(result, skipped=False)
    assert (line, "absent" in told) == (6, True)


def asserted(tmp_path: Path, *assertions: dict[str, object]) -> tuple[Case, list[str]]:
    config = {"tests": [{"vars": {"question": "why?"}, "assert": list(assertions)}]}
    result = read(tmp_path, yaml.safe_dump(config))
    return result.cases[0], [reason for _, reason in notes(result, skipped=False)]


@pytest.mark.parametrize(
    ("assertions", "right", "wrong"),
    [
        ([{"type": "icontains-any", "value": ["Paris", "Lutetia"]}], "in lutetia", "in London"),
        ([{"type": "not-contains", "value": "sorry"}], "yes", "I am\nsorry"),
        ([{"type": "not-icontains", "value": "Sorry"}, {"type": "contains", "value": "yes"}], "oh yes", "yes, SORRY"),
        ([{"type": "contains", "value": "a.b"}, {"type": "icontains", "value": "C"}], "c\na.b", "C aXb"),
        (
            [{"type": "starts-with", "value": "Yes"}, {"type": "not-starts-with", "value": "Yesterday"}],
            "Yes!",
            "Yesterday",
        ),
        ([{"type": "regex", "value": r"\d{3}"}, {"type": "regex", "value": "(?i)eur"}], "EUR 118", "EUR 18"),
        ([{"type": "contains-all", "value": ["a", "b"]}, {"type": "not-regex", "value": "c$"}], "b\na", "abc"),
    ],
)
def test_assertions_about_text_become_one_check(
    tmp_path: Path, assertions: list[dict[str, object]], right: str, wrong: str
) -> None:
    case, told = asserted(tmp_path, *assertions)
    assert told == []
    assert case.expectation
    assert check(case.expectation, right).passed
    assert not check(case.expectation, wrong).passed


@pytest.mark.parametrize(
    ("assertions", "told"),
    [
        ([{"type": "cost", "threshold": 1}], "cost"),
        ([{"type": "not-equals", "value": "x"}], "not-equals"),
        ([{"type": "contains", "value": "file://x.txt"}], "reads a file"),
        ([{"type": "equals", "value": "x"}, {"type": "contains", "value": "y"}], "“contains” was left out"),
        ([{"type": "regex", "value": r"(a)\1"}, {"type": "contains", "value": "y"}], "“regex” was left out"),
        ([{"type": "assert-set", "assert": []}], "assert-set"),
        ([{"type": "similar", "value": "x", "threshold": 0.8}], "reference answer"),
    ],
)
def test_what_cannot_be_taken_over_is_named(tmp_path: Path, assertions: list[dict[str, object]], told: str) -> None:
    _, reasons = asserted(tmp_path, *assertions)
    assert len(reasons) == 1
    assert told in reasons[0]


def test_a_test_whose_lists_explode_is_one_bad_row(tmp_path: Path) -> None:
    many = list(range(50))
    config = {"tests": [{"vars": {"question": many, "a": many, "b": many}}, {"vars": {"question": "fine"}}]}
    result = read(tmp_path, yaml.safe_dump(config))
    assert [c.question for c in result.cases] == ["fine"]
    assert "1000" in notes(result, skipped=True)[0][1]
