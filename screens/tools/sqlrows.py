"""The rows of a query: any number of them, made as they come into view; left and right go through the columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, overload

from rich.cells import cell_len
from textual.binding import Binding, BindingType

from screens.style import Line, Tone
from screens.widgets.grid import Column, Grid, Row
from workbench.records.sql import QueryResult, SqlCell

WIDEST = 40
"""Cells of a column."""
_LOOKED_AT = 400  # rows, spread over all of them, that decide how wide a column is


class ResultRows(Sequence[Row]):
    """A result as rows of a table, each made when it is asked for; keys are their places."""

    def __init__(self, result: QueryResult) -> None:
        self._result = result

    def __len__(self) -> int:
        return len(self._result.rows)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        if isinstance(place, slice):
            return [self[n] for n in range(*place.indices(len(self)))]
        return Row(str(place), tuple(map(told, self._result.rows[place])))


class ResultGrid(Grid):
    """A result's rows; its columns are known only once it is there."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "columns(-1)", "Columns to the left", show=False, id="sql.left"),
        Binding("right,l", "columns(1)", "Columns to the right", show=False, id="sql.right"),
    ]

    def __init__(self, *, id: str) -> None:
        super().__init__((), id=id)
        self._first = 0
        self._every: tuple[Column, ...] = ()

    def show_result(self, result: QueryResult) -> None:
        """Replaces rows and columns."""
        numbers = [
            any(isinstance(row[n], (int, float)) for row in result.rows[:20]) for n in range(len(result.columns))
        ]
        self._every = tuple(
            Column(name, _width(result, n), "right" if numbers[n] else "left") for n, name in enumerate(result.columns)
        )
        self._all, self._rows = (), ()
        self._first = 0
        self._columns = self._every
        self.show(ResultRows(result), ranked=True)
        self.refresh()

    def action_columns(self, by: int) -> None:
        """The columns from another one on."""
        self._first = max(0, min(self._first + by, len(self._every) - 1))
        self._columns = self._every[self._first :]
        self.refresh()

    def _cells(self, index: int) -> tuple[Line, ...]:
        return tuple(super()._cells(index)[self._first :])


def told(cell: SqlCell) -> Line:
    """A value as a cell shows it."""
    if cell is None:
        return "NULL", Tone.DIM
    if isinstance(cell, bytes):
        return f"{len(cell)} B", Tone.DIM
    return str(cell)[:400]


def _width(result: QueryResult, n: int) -> int:
    rows = [*result.rows[:: max(1, len(result.rows) // _LOOKED_AT)], *result.rows[-1:]]
    longest = max((cell_len(str(row[n])[:WIDEST]) for row in rows), default=1)
    return max(1, min(WIDEST, max(longest, cell_len(result.columns[n]))))
