"""Source code by definition: Python by its grammar, other languages by what stands at the margin."""

from __future__ import annotations

import ast
import re
import warnings as python_warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from workbench.corpus.parse.blocks import cover, line_starts
from workbench.corpus.parse.decoding import decode
from workbench.i18n import tr
from workbench.records.corpus import Block, ParsedDocument

LANGUAGES: Final[dict[str, str]] = {
    **dict.fromkeys(("py", "pyi", "pyw"), "python"),
    **dict.fromkeys(("js", "mjs", "cjs", "jsx"), "javascript"),
    **dict.fromkeys(("ts", "tsx", "mts"), "typescript"),
    **dict.fromkeys(("c", "h"), "c"),
    **dict.fromkeys(("cpp", "cc", "cxx", "hpp", "hh"), "cpp"),
    **dict.fromkeys(("sh", "bash", "zsh"), "shell"),
    **dict.fromkeys(("kt", "kts"), "kotlin"),
    "cs": "csharp",
    "go": "go",
    "java": "java",
    "lua": "lua",
    "php": "php",
    "pl": "perl",
    "r": "r",
    "rb": "ruby",
    "rs": "rust",
    "scala": "scala",
    "sql": "sql",
    "swift": "swift",
}
"""File extension (lower case, no dot) → language."""

_LONGEST_HEAD: Final = 200  # characters of a line that are looked at; minified code has lines of megabytes
_LARGE: Final = 60  # lines; a longer definition is parted at the definitions in it
_COMMENT: Final = re.compile(
    r"\s*(?:#|//|/\*|\*|--|@|;;)"
)  # comments, decorators, attributes: they belong to what follows
_CLOSING: Final = re.compile(r"\s*(?:[)\]}]|end\b|else\b|elif\b|catch\b|finally\b|rescue\b|ensure\b)")
_MODIFIERS: Final = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|sealed|async|override|open|data|"
    r"partial|pub(?:\([^)]*\))?|unsafe|extern|inline|const|virtual|declare)\s+)*"
)
_DEFINITIONS: Final = tuple(
    re.compile(r"\s*" + pattern, re.IGNORECASE)
    for pattern in (
        _MODIFIERS + r"(?:function\*?|func|fn|def|sub|fun|proc)\s+(?:\([^)]*\)\s*)?([\w$.:]+[?!]?)",
        _MODIFIERS
        + r"(?:class|struct|enum|trait|interface|type|module|namespace|record|object|protocol|union)\s+([\w$.:]+)",
        r"(impl(?:<[^>]*>)?\s+[\w:<>, ]+)",
        r"create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+|unique\s+|materialized\s+)*"
        r"(?:table|view|index|function|procedure|trigger|type|schema)\s+(?:if\s+not\s+exists\s+)?([\w.\"`\[\]]+)",
        _MODIFIERS + r"(?:const|let|var)\s+([\w$]+)\s*=\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*=>|\w+\s*=>)",
        r"([\w.-]+)\s*\(\s*\)\s*\{",
        r"([A-Za-z_]\w*)\s*(?:<-|=)\s*function\b",
        r"(?!(?:if|for|while|switch|return|else|catch|new|throw|do|case|using|await|yield)\b)"
        r"[A-Za-z_][\w:<>,*&\[\]?. ]*[\s*&]([\w:~]+)\s*\([^;=]*$",
    )
)


def parse(data: bytes, name: str) -> ParsedDocument:
    """Source code as definitions, each with the decorators and comments right before it; the rest is code.

    Metadata: ``path`` and ``code_language``.

    Raises:
        DocumentError: empty, binary, or badly encoded.
    """
    text, warnings = decode(data)
    path = PurePosixPath(name)
    language = LANGUAGES.get(path.suffix[1:].lower(), "text")
    try:
        blocks = list(_python(text)) if language == "python" else list(_by_margin(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # all of them what ast.parse raises
        line = getattr(error, "lineno", None) or 1
        warnings = (*warnings, tr("Not valid Python near line {line}: cut by layout instead.", line=line))
        blocks = list(_by_margin(text))
    metadata = {"path": name, "code_language": language}
    return ParsedDocument(
        text, path.name or name, f"text/x-{language}", cover(text, blocks, "code"), metadata=metadata, warnings=warnings
    )


def _python(text: str) -> Iterator[Block]:
    with python_warnings.catch_warnings():
        python_warnings.simplefilter("ignore")  # about the source that is read, not about us
        tree = ast.parse(text)
    starts = line_starts(text)
    if ast.get_docstring(tree, clean=False) is not None:
        docstring = tree.body[0]
        yield Block(starts[docstring.lineno - 1], starts[docstring.end_lineno or docstring.lineno], "paragraph")
    yield from _python_definitions(tree.body, text.split("\n"), starts, "")


def _python_definitions(
    body: Sequence[ast.stmt], lines: Sequence[str], starts: Sequence[int], prefix: str
) -> Iterator[Block]:
    """Functions and classes of ``body``; a class is its head up to the first definition in it, then those."""
    for node in body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
        first = _with_comments(lines, first)
        last = node.end_lineno or node.lineno
        label = prefix + node.name
        inner = (
            list(_python_definitions(node.body, lines, starts, label + "."))
            if isinstance(node, ast.ClassDef) and node.lineno != last
            else []
        )
        yield Block(starts[first], inner[0].start if inner else starts[last], "definition", label=label)
        yield from inner


def _with_comments(lines: Sequence[str], first: int) -> int:
    """The line where the comments that end right before line ``first`` begin."""
    while first > 0 and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return first


def _by_margin(text: str) -> Iterator[Block]:
    """Definitions and groups of lines, told from indentation, blank lines and the words that open a definition.

    A heuristic: it knows no grammar, so a margin inside a string or a comment can mislead it.
    """
    lines = text.split("\n")
    yield from _margin_blocks(lines, line_starts(text), range(len(lines)), "", 0)


def _margin_blocks(
    lines: Sequence[str], starts: Sequence[int], within: range, prefix: str, depth: int
) -> Iterator[Block]:
    cuts = _cuts(lines, within)
    for first, last in zip(cuts, [*cuts[1:], within.stop], strict=True):
        name = _name(lines[first:last])
        label = prefix + name if name else prefix.rstrip(".")
        inner = range(_first_code_line(lines, first, last) + 1, last)
        end = starts[min(last, len(starts) - 1)]
        if name and last - first > _LARGE and depth < 2 and (parts := list(_inner(lines, starts, inner, label, depth))):
            yield Block(starts[first], parts[0].start, "definition", label=label)
            yield from parts
        else:
            yield Block(starts[first], end, "definition" if name else "code", label=label)


def _inner(lines: Sequence[str], starts: Sequence[int], within: range, label: str, depth: int) -> list[Block]:
    """The parts of a large definition, if any of them is a definition itself."""
    parts = list(_margin_blocks(lines, starts, within, label + ".", depth + 1))
    return parts if any(part.kind == "definition" for part in parts) else []


def _cuts(lines: Sequence[str], within: range) -> list[int]:
    """Lines at the margin of ``within`` that begin a group: a definition, or anything after a blank line.

    Comments right before a line belong to it.
    """
    margin = min((_indent(lines[i]) for i in within if lines[i].strip() and not _CLOSING.match(lines[i])), default=0)
    cuts = [within.start]
    lead: int | None = None  # where the comments right before this line begin
    after_blank = lead_after_blank = False
    for i in within:
        line = lines[i]
        is_blank = not line.strip()
        if is_blank and lead is not None and lead_after_blank:
            cuts.append(lead)  # comments that stand alone
        elif not is_blank and _indent(line) <= margin and _COMMENT.match(line):
            if lead is None:
                lead, lead_after_blank = i, after_blank
            after_blank = False
            continue
        elif not is_blank and _indent(line) <= margin and not _CLOSING.match(line):
            begin, was_blank = (i, after_blank) if lead is None else (lead, lead_after_blank)
            if was_blank or _defined(line):
                cuts.append(begin)
        lead, after_blank = None, is_blank
    return [cut for n, cut in enumerate(cuts) if n == 0 or cut > cuts[n - 1]]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _first_code_line(lines: Sequence[str], first: int, last: int) -> int:
    return next((i for i in range(first, last) if lines[i].strip() and not _COMMENT.match(lines[i])), first)


def _name(lines: Iterable[str]) -> str:
    """The name that a group defines, "" when its first line that is no comment isn't a definition."""
    first = next((line for line in lines if line.strip() and not _COMMENT.match(line)), "")
    return _defined(first)


def _defined(line: str) -> str:
    head = line[:_LONGEST_HEAD]
    found = next((match for pattern in _DEFINITIONS if (match := pattern.match(head))), None)
    return found[1].strip(" {") if found else ""
