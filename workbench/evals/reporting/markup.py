"""A page as blocks, written as Markdown, as one self-contained HTML file, or its tables as LaTeX. All text is escaped.

What a page says comes from documents, models and file names: none of it may become markup, markup's code, or a
character that acts on a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, TypeAlias

from workbench.i18n import language, tr
from workbench.text.clean import printable


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading under the page's title: level 2 or 3."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text; line breaks become spaces."""

    text: str


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under a head; columns in ``right`` are aligned right, and a ``note`` stands below."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[int, ...] = ()
    note: str = ""


Block: TypeAlias = Heading | Paragraph | Bullets | Table


@dataclass(frozen=True, slots=True)
class Page:
    """A title and what stands under it."""

    title: str
    blocks: tuple[Block, ...]


_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]<>|#~$&])")
_LINE_START: Final = re.compile(r"^(?:([-+=])(?=[\s=-]|$)|(\d+)([.)])(?=\s|$))")
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_GREEK: Final = (
    *("alpha", "beta", "gamma", "delta", "varepsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"),
    *("nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "varphi", "chi", "psi", "omega"),
    *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega"),
)
_LATEX: Final = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "±": r"$\pm$",
    "→": r"$\rightarrow$",
    "←": r"$\leftarrow$",
    "−": r"$-$",
    "≈": r"$\approx$",
    "≠": r"$\neq$",
    "∞": r"$\infty$",
    "«": r"$\ll$",
    "»": r"$\gg$",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{c: f"$\\{name}$" for c, name in zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ", _GREEK, strict=True)},
}
_PDFLATEX: Final = re.compile("[ -~¡-ÿĀ-ſ‐–—―‖‘’“”†‡•…‰€™]")
_NOT_PDFLATEX: Final = frozenset("«»ÐÞðþĄąĐđĘęĦħĮįĸĿŀŉŊŋŦŧŲųſ")
"""Of the letters of Europe's west and middle, those that the font encoding which pdfLaTeX begins with hasn't got."""
_STYLE: Final = (
    ":root{color-scheme:light dark}"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}"
    "th,td{padding:.25rem .75rem;border-bottom:1px solid #8886;text-align:left;vertical-align:top}"
    "tr{break-inside:avoid}"
    ".r{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}"
)


def to_markdown(page: Page) -> str:
    """The page in GitHub's Markdown."""
    return "\n\n".join([f"# {markdown_text(page.title)}", *(_markdown(block) for block in page.blocks)]) + "\n"


def to_html(page: Page) -> str:
    """The page as one HTML file that loads nothing and runs nothing."""
    title = _html_text(page.title)
    return (
        f'<!doctype html>\n<html lang="{language()}">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        + "\n".join(_html(block) for block in page.blocks)
        + "\n</body>\n</html>\n"
    )


def to_latex(table: Table) -> str:
    """The table as a plain ``tabular`` that needs no package: first column left, ``right`` columns right.

    Letters that pdfLaTeX lacks (another script's, signs) stay as they are, and a comment above the table says so.
    """
    columns = "".join("r" if i in table.right else "l" for i in range(len(table.head)))
    rows = [_latex_row(row) for row in (table.head, *table.rows)]
    lines = [f"\\begin{{tabular}}{{{columns}}}", r"\hline", rows[0], r"\hline", *rows[1:], r"\hline", r"\end{tabular}"]
    if table.note:
        lines += ["", latex_text(table.note)]
    if not all(_PDFLATEX.match(c) and c not in _NOT_PDFLATEX for line in lines for c in line):
        lines.insert(0, "% " + tr("Some of these characters need XeLaTeX or LuaLaTeX, and a font that has them."))
    return "\n".join(lines) + "\n"


def without_escapes(markdown: str) -> str:
    """Markdown as a person reads it, where nothing else does: the backslashes before signs are gone."""
    return _ESCAPED.sub(r"\1", markdown)


def _latex_row(cells: Sequence[str]) -> str:
    row = " & ".join(map(latex_text, cells)) + r" \\"
    return "{}" + row if row.startswith(("[", "*")) else row  # they would be taken for options of the row's end before


def markdown_text(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _LINE_START.sub(_escaped_start, _MARKDOWN.sub(r"\\\1", _one_line(text)))


def latex_text(text: str) -> str:
    """Text that LaTeX prints as it is, on one line."""
    told = "".join(_LATEX.get(character, character) for character in _one_line(text))
    return re.sub("-(?=-)", "-{}", told)  # or two hyphens would become a dash


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()), newlines=False)


def _escaped_start(found: re.Match[str]) -> str:
    sign, number, mark = found.groups()
    return f"\\{sign}" if sign else f"{number}\\{mark}"


def _markdown(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {markdown_text(text)}"
        case Paragraph(text):
            return markdown_text(text)
        case Bullets(items):
            return "\n".join(f"- {markdown_text(item)}" for item in items)
        case Table(head, rows, right, note):
            rule = "|".join("---:" if i in right else "---" for i in range(len(head)))
            below = ["", markdown_text(note)] if note else []
            return "\n".join([_markdown_row(head), f"|{rule}|", *map(_markdown_row, rows), *below])


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(markdown_text, cells)) + " |"


def _html_text(text: str) -> str:
    return escape(printable(text))


def _html(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{_html_text(text)}</h{level}>"
        case Paragraph(text):
            return f"<p>{_html_text(text)}</p>"
        case Bullets(items):
            return "<ul>" + "".join(f"<li>{_html_text(item)}</li>" for item in items) + "</ul>"
        case Table(head, rows, right, note):
            body = "\n".join(_html_row(row, right, "td") for row in rows)
            below = f"\n<p>{_html_text(note)}</p>" if note else ""
            return f"<table>\n<thead>{_html_row(head, right, 'th')}</thead>\n<tbody>\n{body}\n</tbody>\n</table>{below}"


def _html_row(cells: Sequence[str], right: Sequence[int], tag: str) -> str:
    shown = (f"<{tag}{' class=r' if i in right else ''}>{_html_text(c)}</{tag}>" for i, c in enumerate(cells))
    return f"<tr>{''.join(shown)}</tr>"
