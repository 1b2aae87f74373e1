"""Short rows as a table of several column groups, as many as the width has room for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len

from screens.style import Line, plain


def in_columns(cells: Sequence[tuple[Line, ...]], width: int) -> Iterable[Line]:
    """Rows of the same parts as a table of as many column groups as fit, read downwards; second parts align right."""
    parts = max(map(len, cells), default=0)
    widths = [max((cell_len(plain(cell[i])) for cell in cells), default=0) for i in range(parts)]
    used = [i for i in range(parts) if widths[i]]
    group = sum(widths) + 2 * (len(used) - 1)
    down = -(-len(cells) // max(1, (width + 4) // (group + 4)))
    for row in range(down):
        line: list[Line] = []
        for number, cell in enumerate(cells[row::down]):
            line.append("    " if number else "")
            for i in used:
                line += ["  " if i else "", _padded(cell[i], widths[i], right=i == 1)]
        yield tuple(line)


def _padded(part: Line, width: int, *, right: bool) -> Line:
    blank = " " * (width - cell_len(plain(part)))
    return (blank, part) if right else (part, blank)
