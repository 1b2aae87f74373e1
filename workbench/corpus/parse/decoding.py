"""Bytes to text: which encoding, said aloud when it is a guess, and one kind of line end."""

from __future__ import annotations

import codecs
import re
from typing import Final

from workbench.errors import DocumentError
from workbench.i18n import tr

_BOMS: Final = (  # UTF-32's little-endian mark begins with UTF-16's: the longer one goes first
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Encodings that a source may declare. Python knows more, some of which run code paths no document should choose.
_DECLARABLE: Final = re.compile(
    r"(iso-?8859-\d+|latin-?\d|windows-125\d|cp125\d|koi8-[ru]|shift[_-]jis|euc-(jp|kr)|gb(k|2312|18030)|big5)", re.I
)
# Logs and printer files hold controls here and there; tabs, line ends, form feeds and escapes (colours) are no sign.
_CONTROLS: Final = bytes(set(range(1, 32)) - set(b"\t\n\v\f\r\x1b")) + b"\x7f"
_SAMPLE: Final = 65_536
_MAX_CONTROL_SHARE: Final = 0.05


def decode(data: bytes, declared: str = "") -> tuple[str, tuple[str, ...]]:
    """The text of ``data`` with line ends as ``\\n``, and warnings for what was guessed or lost.

    UTF-8 when it is valid, a byte order mark's encoding, ``declared`` when the source names one; else a damaged UTF-8
    when most of its non-ASCII characters are whole, else Windows-1252, else Latin-1. Nothing else is changed.

    Raises:
        DocumentError: empty, binary, or not in the encoding that its byte order mark says.
    """
    if not data:
        raise empty()
    text, warnings = _decoded(data, declared)
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")  # some tools mark what is marked already
    if "\0" in text:
        raise _binary()
    if not text.strip():
        raise empty()
    return text, warnings


def empty() -> DocumentError:
    """The error for a source without any text."""
    return DocumentError(
        tr("Empty document"), tr("There is no text in it."), tr("Check that the file was saved completely.")
    )


def _binary() -> DocumentError:
    return DocumentError(
        tr("Binary file"),
        tr("It holds bytes that no text has, and its format is not one of those that can be read."),
        tr("Convert it to text, Markdown, HTML, PDF or docx, or leave it out."),
    )


def _decoded(data: bytes, declared: str) -> tuple[str, tuple[str, ...]]:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            if encoding == "utf-8":
                data = data[len(mark) :]
                break
            return _marked(data, encoding), ()
    sample = data[:_SAMPLE]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    if b"\0" in data or controls > _MAX_CONTROL_SHARE * len(sample):
        raise _binary()
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError:
        return _guessed(data, declared)


def _marked(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise DocumentError(
            tr("Bad encoding"),
            tr("It is marked as {encoding} and is not valid there.", encoding=encoding.upper()),
            tr("Save it again as UTF-8."),
        ) from error


def _guessed(data: bytes, declared: str) -> tuple[str, tuple[str, ...]]:
    if _DECLARABLE.fullmatch(declared):
        try:
            return data.decode(declared), ()
        except (UnicodeDecodeError, LookupError):
            pass  # the declaration is wrong: guess as if there were none
    patched = data.decode("utf-8", "replace")
    lost = patched.count("\ufffd")
    if sum(not c.isascii() for c in patched) - lost > lost:
        return patched, (tr("Not valid UTF-8; damaged places, shown as �: {count}.", count=lost),)
    try:
        return data.decode("cp1252"), (tr("Not UTF-8: read as Windows-1252."),)
    except UnicodeDecodeError:
        return data.decode("latin-1"), (tr("Not UTF-8: read as Latin-1."),)
