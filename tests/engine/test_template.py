"""Chat templates as their makers meant them, and bad ones as errors in words."""

from __future__ import annotations

import pytest

from tests.engine.conftest import model_path
from workbench.engine.client import ChildGenerator
from workbench.engine.gguf_header import read_header
from workbench.engine.template import ChatTemplate
from workbench.errors import EngineError
from workbench.records.answers import Message

HELLO = [Message("user", "Hola")]


@pytest.mark.model
def test_the_starter_model_s_prompt_is_exact(generator: ChildGenerator) -> None:
    expected = (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHola {{ 1 }}<|im_end|>\n<|im_start|>assistant\n"
    )
    messages = [Message("system", "Be brief."), Message("user", "Hola {{ 1 }}")]
    assert generator.render(messages) == expected
    assert ChatTemplate(read_header(model_path()).chat_template).render(messages) == expected


def test_templates_get_what_transformers_gives_them() -> None:
    source = """{% for message in messages %}
    {% if message['role'] == 'system' %}
        {% continue %}
    {% endif %}
{{ bos_token }}{{ message | tojson }}{{ eos_token }}
{% endfor %}
    {% if add_generation_prompt %}
>{{ strftime_now('%Y') | length }}
    {% endif %}"""
    messages = [Message("system", "x"), Message("user", "año")]
    assert ChatTemplate(source, "<s>", "</s>").render(messages) == '<s>{"role": "user", "content": "año"}</s>\n>4\n'


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("{% for %}", "Expected"),
        ("{{ raise_exception('System role not supported') }}", "System role not supported"),
        ("{{ messages[5].content }}", "no element 5"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "unsafe"),
        ("{% for i in range(10**9) %}{% endfor %}", "Range too big"),
        ("{% include '/etc/passwd' %}", "no loader"),
    ],
)
def test_a_broken_or_hostile_template_is_an_error_in_words(source: str, reason: str) -> None:
    with pytest.raises(EngineError, match=reason) as refused:
        ChatTemplate(source).render(HELLO)
    assert refused.value.title == "The chat template failed"


@pytest.mark.parametrize("source", ["", " \n"])
def test_a_base_model_says_that_it_is_one(source: str) -> None:
    with pytest.raises(EngineError, match="base model") as refused:
        ChatTemplate(source)
    assert "instruct" in refused.value.remedy


@pytest.mark.parametrize(
    "source",
    [
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{% for i in range(99999) %}{% set x = range(99999) | list %}{% endfor %}",
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(40) }}",
        "{% for i in range(99) recursive %}{% if loop.depth < 20 %}{{ loop(range(99)) }}{% endif %}{% endfor %}",
    ],
)
def test_a_template_that_loops_on_and_on_is_stopped(source: str) -> None:
    with pytest.raises(EngineError) as caught:
        ChatTemplate(source).render([Message("user", "Hi")])
    assert caught.value.title == "The chat template doesn't end"


@pytest.mark.parametrize("source", ["{{ 9 ** 9 ** 9 ** 9 }}", "{{ 'a' * 99999999999 }}"])
def test_one_operation_alone_takes_neither_all_time_nor_all_memory(source: str) -> None:
    with pytest.raises(EngineError, match="more than 10,000 times"):
        ChatTemplate(source).render([Message("user", "Hi")])


def test_loops_know_where_they_are_though_their_turns_are_counted() -> None:
    source = "{% for m in messages %}{{ loop.index }}/{{ loop.length }}{{ '.' if loop.last else ',' }}{% endfor %}"
    assert ChatTemplate(source).render([Message("user", "a"), Message("user", "b")]) == "1/2,2/2."
