"""Money: what was used, what it costs, and the sums of machines."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.widgets import Input, Static

from screens.dialogs import ChoiceDialog
from screens.fields import field
from screens.style import Line, Tone, content, count
from screens.tools.calculators import Calculator, CalculatorDialog, money_calculators
from screens.tools.form import Answers, FormDialog, number
from screens.tools.form import Line as FormLine
from screens.tools.tab import ToolTab
from screens.tools.times import Times, read_times, times_dialog
from screens.widgets.grid import Column, Grid, ListPane, Row
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.money.costs import break_even_requests, hit_ratio, per_million_tokens
from workbench.money.money import LOCAL, Speed, price_name, spent_words
from workbench.records.money import Price
from workbench.records.usage import UsageSum
from workbench.usage.ledger import Group
from workbench.usage.words import marks_told, near

GROUPINGS: Final[tuple[tuple[Group, ...], ...]] = (("model",), ("day", "model"), ("purpose",), ("day",), ("server",))
SUMS: Final = (("hour", "2.5"), ("speed", "40"), ("busy", "50"), ("local", "80"), ("request", "0.000846"))


@dataclass(frozen=True, slots=True)
class Read:
    """What the tab shows: sums with their cost in words, prices with whether each is stale, the mean call in words."""

    sums: tuple[tuple[UsageSum, str], ...]
    prices: tuple[tuple[Price, bool], ...]


class MoneyTab(ToolTab):
    """Usage beside prices, over the sums."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("g", "group", "Add up by", id="tools.group", tooltip="Model, day and model, purpose, day, server"),
        Binding("w", "times", "Times", id="tools.times", tooltip="Where the time went; predicted against measured"),
        Binding("f", "fill", "Speed", id="tools.fill", tooltip="The measured tokens/s of the model under the cursor"),
        Binding(
            "c",
            "calculate",
            "Calculators",
            id="tools.calculate",
            tooltip="Prompt cache, ownership, capacity, vectors",
        ),
        Binding("p", "price", "Price", id="tools.price", tooltip="Write one down, or the one under the cursor anew"),
        Binding("delete", "unprice", "Drop price", show=False, id="tools.unprice", tooltip="The one under the cursor"),
    ]
    _grouping = 0
    _currency = ""
    """That of all prices, "" where there is none, or several."""
    _models: dict[str, str]
    """The model of each row of usage."""

    def compose(self) -> ComposeResult:
        """Two tables, then lines to reckon with."""
        self._models = {}
        with Horizontal(id="money"):
            yield ListPane(lambda shown, _: tr("Used: {count}", count=shown), _usage_columns(), id="used")
            yield ListPane(
                lambda shown, _: tr("Prices per million tokens: {count}", count=shown), _columns(), id="prices"
            )
        names = _sum_names()
        with Container(id="sums"):
            for name, value in SUMS:
                yield field(f"sum-{name}", names[name], value)
        yield Static("", id="sums-told")

    def on_mount(self) -> None:
        """The sums of what stands there."""
        self._reckon()

    def reload(self) -> None:
        """Sums and prices."""
        by = GROUPINGS[self._grouping]

        def read() -> Read:
            money = self.desk.money
            sums = tuple((one, spent_words(spent).strip("–")) for one, spent in money.spent(by))
            return Read(sums, tuple((price, money.stale(price)) for price in money.prices()))

        self.jobs.read(self, read, self._show)

    def entered(self) -> None:
        """The sums of usage."""
        self.query_one("#used-grid", Grid).focus()

    def _show(self, read: Read) -> None:
        rows = [_usage_row(one, cost) for one, cost in read.sums]
        self._models = {row.key: one.model for row, (one, _) in zip(rows, read.sums, strict=True)}
        self.query_one("#used", ListPane).show(rows)
        self.query_one("#prices", ListPane).show([_price_row(price, stale) for price, stale in read.prices])
        currencies = {price.currency for price, _ in read.prices}
        self._currency = currencies.pop() if len(currencies) == 1 else ""
        self._reckon()
        used = self.query_one("#used", ListPane)
        marks = {one.usage.estimated: marks_told(one.usage.estimated) for one, _ in read.sums}
        told = " · ".join(marks[kind] for kind in (True, None) if kind in marks)
        used.border_subtitle = content(
            (told, Tone.DIM) if read.sums else tr("Ask, chat or evaluate with a model: it is counted here.")
        )
        prices = self.query_one("#prices", ListPane)
        prices.border_subtitle = content("" if read.prices else tr("p writes a price down; none is built in."))

    def action_group(self) -> None:
        """The next way to add up."""
        self._grouping = (self._grouping + 1) % len(GROUPINGS)
        self.reload()

    @property
    def _model(self) -> str:
        return self._models.get(self.query_one("#used-grid", Grid).key, "")

    def action_fill(self) -> None:
        """Reckons with the speed that was measured of the model under the cursor; asks where, if in several places."""
        model = self._model
        self.jobs.open(self, lambda: self.desk.money.speed_places(model), lambda places: self._fill(model, places))

    def _fill(self, model: str, places: tuple[str, ...]) -> None:
        def fill(place: str) -> None:
            if place:
                self.jobs.read(self, lambda: self.desk.money.speed(f"{place}#{model}"), self._take_speed)

        if len(places) > 1:
            rows = [Row(place, (tr("this machine") if place == LOCAL else place, "")) for place in places]
            self.app.push_screen(ChoiceDialog(tr("Which server?"), rows), lambda place: fill(place or ""))
        else:
            fill(next(iter(places), LOCAL))

    def _take_speed(self, speed: Speed | None) -> None:
        if speed is None:
            self.notify(tr("Neither a bench nor the ledger knows how fast it is."), timeout=3)
            return
        self.query_one("#sum-speed", Input).value = f"{speed.tokens_per_second:.1f}"
        self.notify(f"{speed.tokens_per_second:.1f} tokens/s ({speed.evidence})", timeout=3)

    def action_times(self) -> None:
        """The phases of the newest question, and of the newest call of the model under the cursor."""
        model = self._model
        self.jobs.read(self, lambda: read_times(self.desk, model), self._tell_times)

    def _tell_times(self, times: Times) -> None:
        self.app.push_screen(times_dialog(times))

    def action_calculate(self) -> None:
        """Asks for a calculator; it starts with the price under the cursor and the ledger's mean seconds."""
        name = self.query_one("#prices-grid", Grid).key

        def read() -> dict[str, Calculator]:
            price = next((p for p in self.desk.money.prices() if price_name(p) == name), None)
            return money_calculators(price, self.desk.money.mean_seconds())

        self.jobs.read(self, read, self._ask_calculator)

    def _ask_calculator(self, known: dict[str, Calculator]) -> None:
        def start(name: str | None) -> None:
            if name:
                self.app.push_screen(CalculatorDialog(known[name]))

        rows = [Row(name, (one.title, (one.formula, Tone.DIM))) for name, one in known.items()]
        self.app.push_screen(ChoiceDialog(tr("Calculators"), rows), start)

    def action_price(self) -> None:
        """Asks for a price."""
        self.jobs.read(self, self.desk.money.prices, self._ask_price)

    def _ask_price(self, known: tuple[Price, ...]) -> None:
        grid = self.query_one("#prices-grid", Grid)
        old = next((p for p in known if grid.has_focus and price_name(p) == grid.key), None)
        lines = (
            FormLine(
                "provider", tr("Provider"), old.provider if old else "", tr("a server's address, local, * or a name")
            ),
            FormLine("model", tr("Model"), old.model if old else "", tr("as the ledger names it")),
            FormLine("input", tr("Input"), f"{old.input:g}" if old else "", tr("per million tokens")),
            FormLine("output", tr("Output"), f"{old.output:g}" if old else "", tr("per million tokens")),
            FormLine("read", tr("Cache read"), _optional(old.cache_read if old else None), tr("as input when empty")),
            FormLine(
                "write", tr("Cache write"), _optional(old.cache_write if old else None), tr("as input when empty")
            ),
            FormLine("currency", tr("Currency"), old.currency if old else "EUR"),
            FormLine("checked", tr("Looked up on"), date.today().isoformat(), "2027-01-31"),
            FormLine("source", tr("Source"), old.source if old else "", tr("where it was looked up")),
        )
        self.app.push_screen(FormDialog(tr("A price"), lines, _price), self._put)

    def _put(self, price: Price | None) -> None:
        if price:
            self.jobs.read(self, lambda: self.desk.money.put_price(price), lambda _: self.reload())

    def action_unprice(self) -> None:
        """Drops the price under the cursor."""
        grid = self.query_one("#prices-grid", Grid)
        if grid.has_focus and (name := grid.key):
            self.jobs.read(self, lambda: self.desk.money.remove_price(name), lambda _: self.reload())

    @on(Input.Changed)
    def _reckon(self) -> None:
        told = self.query_one("#sums-told", Static)
        try:
            hour, speed, busy, local, request = (
                number({name: self.query_one(f"#sum-{name}", Input).value}, name, name) for name, _ in SUMS
            )
            tokens = per_million_tokens(hour, speed, busy / 100)
            requests = break_even_requests(local, request)
        except (ValueError, WorkbenchError) as error:
            words = error.message if isinstance(error, WorkbenchError) else str(error)
            told.update(content(("✗ ", Tone.BAD), words))
            return
        pays = tr("never") if requests is None else tr("from {count} requests a month on", count=count(requests))
        parts: list[Line] = [
            *self._examples(),
            tr("a million tokens {cost}", cost=f"{tokens:,.1f} {self._currency or tr('in your currency')}"),
            " · ",
            tr("your own machine pays {pays}", pays=pays),
        ]
        told.update(content(*parts))

    def _examples(self) -> list[Line]:
        """Says which numbers are nobody's: those that stand as the tab opened with them."""
        names = [name for name, value in SUMS if self.query_one(f"#sum-{name}", Input).value == value]
        if not names:
            return []
        if len(names) == len(SUMS):
            return [(tr("example numbers: type yours") + " · ", Tone.WARN)]
        labels = _sum_names()
        return [
            (tr("still the example's: {names}", names=", ".join(labels[name] for name in names)) + " · ", Tone.WARN)
        ]


def _sum_names() -> dict[str, str]:
    return {
        "hour": tr("an hour"),
        "speed": tr("tokens/s"),
        "busy": tr("busy %"),
        "local": tr("own a month"),
        "request": tr("a request"),
    }


def _usage_columns() -> list[Column]:
    return [
        Column(tr("day"), 10, fold=True),
        Column(tr("what"), fit=True, tail=True),
        Column(tr("calls"), align="right", whole=True),
        Column(tr("input"), align="right", whole=True),
        Column("H", align="right", whole=True),
        Column(tr("output"), align="right", whole=True),
        Column(tr("time"), align="right", keep=84, whole=True),
        Column(tr("cost"), align="right", fold=True, whole=True),
    ]


def _usage_row(one: UsageSum, cost: str) -> Row:
    hit = hit_ratio(one.usage)
    what = one.model or one.purpose or _short(one.server) or (tr("here") if not one.day else "")
    key = f"{one.day} {one.server} {one.model} {one.purpose}"
    used, about = one.usage, near(one.usage.estimated)
    shown = "–" if hit is None else f"{about}{hit:.0%}"
    seconds = f"{one.seconds:,.0f} s"
    tokens = about + count(used.input), shown, about + count(used.output)
    return Row(key, (one.day, what, count(one.calls), *tokens, (seconds, Tone.DIM), cost))


def _columns() -> list[Column]:
    return [
        Column(tr("model")),
        Column(tr("provider"), fit=True, tail=True),
        Column(tr("in"), align="right", whole=True),
        Column(tr("out"), align="right", whole=True),
        Column("", whole=True),
        Column(tr("checked"), whole=True),
    ]


def _price_row(price: Price, stale: bool) -> Row:
    day: Line = (f"{price.checked} ⚠", Tone.WARN) if stale else str(price.checked)
    return Row(
        price_name(price),
        (
            price.model,
            (_short(price.provider), Tone.DIM),
            f"{price.input:g}",
            f"{price.output:g}",
            price.currency,
            day,
        ),
    )


def _short(address: str) -> str:
    return address.removeprefix("http://")


def _optional(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _price(answers: Answers) -> Price:
    """Raises ValueError."""
    if not answers["provider"] or not answers["model"]:
        raise ValueError(tr("A price has a provider and a model."))
    read, write = (
        number(answers, name, label) if answers[name] else None
        for name, label in (("read", tr("Cache read")), ("write", tr("Cache write")))
    )
    try:
        day = date.fromisoformat(answers["checked"])
    except ValueError:
        raise ValueError(tr("Give a day as 2027-01-31.")) from None
    return Price(
        answers["provider"],
        answers["model"],
        answers["currency"] or "EUR",
        number(answers, "input", tr("Input")),
        number(answers, "output", tr("Output")),
        day,
        read,
        write,
        answers["source"],
    )
