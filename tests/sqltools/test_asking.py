"""A question turned into a query: attempts, the error that goes back, the trace, and giving up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import click
import pytest

from screens.ask.stagelist import walk_stages
from screens.ask.story import Story
from screens.widgets.answer import body
from screens.widgets.stages import of_trace
from tests.screens.fake_records import models
from workbench.cli.tools.sql import _ask as ask_in_sql
from workbench.desk import Desk
from workbench.errors import MissingModelError
from workbench.ports import Generator, Store
from workbench.records.answers import Generation, Message
from workbench.records.sql import Policy
from workbench.sqltools import SqlTools
from workbench.sqltools.asking import link, query_in, visible
from workbench.traces.exports import answer_markdown

QUESTION = "¿Cuántos alumnos tienen pagos en estado pendiente?"
RIGHT = "SELECT COUNT(DISTINCT alumno_id) FROM pagos WHERE estado = 'pendiente'"


class Scripted:
    """A model that writes what it is told to, and keeps what it was sent."""

    def __init__(self, *writes: str) -> None:
        self._writes = list(writes)
        self.sent: list[str] = []
        self.model = _Loaded()

    def render(self, messages: Sequence[Message]) -> str:
        return "\n".join(m.content for m in messages)

    def generate(self, prompt: str, *_: object) -> Iterator[Generation]:
        self.sent.append(prompt)
        yield Generation("complete", self._writes.pop(0), output_tokens=9)


class _Loaded:
    file = models()[0]
    server = ""


def asked(store: Store, model: Scripted, school: Path) -> Any:
    *_, last = SqlTools(store, lambda: cast(Generator, model)).ask(QUESTION, school)
    return last


def test_an_error_goes_back_and_the_second_attempt_answers(store: Store, school: Path) -> None:
    model = Scripted("SELECT x FROM pagos", f"```sql\n{RIGHT};\n```")
    found = asked(store, model, school)
    assert found.result.rows == ((2,),)
    assert "no such column: x" in model.sent[1]
    kept = store.traces.trace("last")
    assert [span.name for span in kept.spans] == ["schema", "sql_1", "sql_2"]
    assert kept.spans[1].metadata["error"] == "no such column: x"
    assert (kept.spans[2].input["sql"], kept.spans[2].metadata["rows"]) == (RIGHT, 1)


def test_three_attempts_and_no_number_is_made_up(store: Store, school: Path) -> None:
    model = Scripted("DROP TABLE pagos", "I don't know.", "SELECT nothing FROM nowhere", RIGHT)
    found = asked(store, model, school)
    assert found.result is None
    assert len(model.sent) == 3
    assert len([span for span in store.traces.trace("last").spans if span.name.startswith("sql_")]) == 3


def test_the_command_fails_where_no_query_could_be_made(
    store: Store, school: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = Scripted("DROP TABLE pagos", "I don't know.", "SELECT nothing FROM nowhere")
    desk = SimpleNamespace(sql=SqlTools(store, lambda: cast(Generator, model)))
    with pytest.raises(click.exceptions.Exit) as ended:
        ask_in_sql(cast(Desk, desk), QUESTION, school, Policy())
    assert ended.value.exit_code == 1
    assert "No query could be made" in capsys.readouterr().out


def test_the_schema_is_linked_by_names_and_keys(tools: SqlTools, school: Path) -> None:
    schema = tools.schema(school)
    assert {t.name for t in link("pagos pendientes", schema, 2)} == {"pagos", "alumnos"}
    assert [t.name for t in link("el DNI de una ficha", replace(schema), 1)] == ["fichas"]


def test_the_schema_is_linked_by_what_the_tables_hold(store: Store, school: Path) -> None:
    model = Scripted(RIGHT)
    tools = SqlTools(store, lambda: cast(Generator, model))
    values = store.sql.values(school, tools.schema(school))
    assert values == {"pagos.estado": ("pendiente", "pagado"), "pagos.campus": ("Norte", "Centro"),
                      "pagos.moneda": ("EUR", "USD")}  # and no name, of which each is another's  # fmt: skip
    told = visible(tools.schema(school), Policy(), values)
    assert [t.name for t in link("¿Cuántos hay pendientes?", told, 1)] == ["pagos"]
    list(tools.ask(QUESTION, school))
    assert "estado TEXT, -- 'pendiente', 'pagado'" in model.sent[0]


def test_a_model_is_not_told_what_it_may_not_read(store: Store, school: Path) -> None:
    model = Scripted("SELECT 1")
    policy = Policy(
        frozenset({"pagos", "alumnos"}), frozenset({"alumnos.dni"}), filters={"pagos": ("campus = 'Norte'",)}
    )
    list(SqlTools(store, lambda: cast(Generator, model)).ask(QUESTION, school, policy))
    assert "CREATE TABLE pagos" in model.sent[0]
    for kept in ("dni", "fichas", "'Centro'"):
        assert kept not in model.sent[0]


@pytest.mark.parametrize("text", [RIGHT, f"Sure! {RIGHT}; That is it.", f"```sql\n{RIGHT}\n```"])
def test_the_query_is_found_in_what_was_written(text: str) -> None:
    assert query_in(text) == RIGHT


def test_without_a_model_it_says_so(tools: SqlTools) -> None:
    with pytest.raises(MissingModelError):
        list(tools.ask(QUESTION))


@pytest.mark.parametrize(
    ("writes", "outcome"), [((RIGHT,), "sql_rows"), (("DROP TABLE pagos", "?", "SELECT x FROM pagos"), "sql_none")]
)
def test_the_history_tells_what_it_was(store: Store, school: Path, writes: tuple[str, ...], outcome: str) -> None:
    asked(store, Scripted(*writes), school)
    assert [listed.outcome for listed in store.traces.recent()] == [outcome]
    trace = store.traces.trace("last")
    shown = body(trace, streaming=False).plain
    assert all(f"{number} " in shown for number in range(1, len(writes) + 1))
    assert ("✓ 1 row" in shown) == (outcome == "sql_rows")
    assert len(of_trace(trace)) == 1 + len(writes)
    assert writes[-1] in answer_markdown(trace)


def test_the_walk_is_the_attempts_and_nothing_of_documents(store: Store, school: Path) -> None:
    asked(store, Scripted("SELECT x FROM pagos", RIGHT), school)
    stages = walk_stages(Story(store.traces.trace("last"), {}))
    assert [stage.key for stage in stages] == ["query", "schema", "sql_1", "sql_2"]
    assert "no such column: x" in stages[2].page(80).text
    assert "1 row" in stages[3].page(80).text


def test_a_stopped_attempt_is_never_run(store: Store, school: Path) -> None:
    class Stopped(Scripted):
        def generate(self, prompt: str, *_: object) -> Iterator[Generation]:
            yield Generation("cancelled", "SELECT COUNT(*) FROM alumnos")

    found = asked(store, Stopped(), school)
    assert found.result is None
    assert [listed.outcome for listed in store.traces.recent()] == ["sql_stopped"]
