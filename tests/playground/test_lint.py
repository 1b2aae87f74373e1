"""What is wrong with a chat template is known before the first token."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from workbench.playground.lint import lint_template
from workbench.records.models import LoadedModel, LoadSettings, MemorySplit, ModelFile
from workbench.records.playground import Lint, Token

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def lint(template: str, *, adds_bos: bool = False, ends: Sequence[str] = ("<|im_end|>",)) -> tuple[Lint, ...]:
    """As a model lints whose special tokens are <s> and everything between <| and |>."""

    def tokens(text: str) -> list[Token]:
        parts = [part for part in re.split(r"(<s>|<\|.*?\|>)", text) if part]
        if adds_bos and not text.startswith("<s>"):
            parts.insert(0, "<s>")
        return [Token(i, part, part.startswith("<"), part in ends) for i, part in enumerate(parts)]

    file = ModelFile("m.gguf", "m.gguf", 1, chat_template=template)
    return lint_template(LoadedModel(file, LoadSettings(), 2048, MemorySplit(), 1.0, 1, bos="<s>", eos="</s>"), tokens)


def test_a_good_template_has_nothing_to_tell() -> None:
    assert lint(CHATML) == ()
    assert lint(CHATML, adds_bos=True) == ()


@pytest.mark.parametrize(
    ("template", "kind", "severity", "words"),
    [
        ("", "missing", "warning", "base model"),
        ("{% for %}", "broken", "error", "Expected"),
        ("{{ messages[9].content }}", "broken", "error", "no element 9"),
        (CHATML.replace("<|im_end|>", "<|end|>"), "end_mismatch", "error", "<|end|>"),
        (CHATML.replace("<|im_end|>", ""), "no_end", "warning", "may not stop"),
        (CHATML.partition("{% if")[0], "no_generation_prompt", "warning", "go on writing yours"),
        ("{{ bos_token }}{{ bos_token }}" + CHATML, "bos_doubled", "warning", "<s> twice"),
        (
            "{% if messages[0].role == 'system' %}{{ raise_exception('Not supported') }}{% endif %}" + CHATML,
            "role_refused",
            "warning",
            "refuses a system message",
        ),
        (
            CHATML.replace("%}<|im_start|>{{", "if m.role != 'system' %}<|im_start|>{{", 1),
            "role_refused",
            "warning",
            "leaves system messages out",
        ),
        (
            "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) and "
            "messages[0].role != 'system' %}{{ raise_exception('Roles must alternate') }}{% endif %}{% endfor %}"
            + CHATML,
            "role_refused",
            "note",
            "Roles must alternate",
        ),
    ],
)
def test_what_is_wrong_is_named_with_how_bad_it_is(template: str, kind: str, severity: str, words: str) -> None:
    found = {(str(each.kind), str(each.severity)): each.message for each in lint(template)}
    assert words in found.get((kind, severity), "")


def test_a_bos_that_both_write_is_a_note_and_the_worst_comes_first() -> None:
    assert [each.kind for each in lint("{{ bos_token }}" + CHATML, adds_bos=True)] == ["bos_written"]
    both = lint("{{ bos_token }}" + CHATML.replace("<|im_end|>", "<|end|>"), adds_bos=True)
    assert [each.severity for each in both] == ["error", "note"]
