"""Encodings, and which parser gets a file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.corpus_parse import make
from workbench.corpus import parse as parsing
from workbench.corpus.parse import format_of, parse, parse_bytes
from workbench.corpus.parse.decoding import decode
from workbench.errors import DocumentError

TEXT = "El año próximo, «quizá» — niño.\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_is_read_without_a_warning(encoding: str) -> None:
    assert decode(TEXT.encode(encoding)) == (TEXT, ())


def test_a_mark_written_twice_is_no_part_of_the_text() -> None:
    assert decode(f"\ufeff{TEXT}".encode("utf-8-sig")) == (TEXT, ())


def test_windows_1252_is_read_and_said() -> None:
    text, warnings = decode(TEXT.encode("cp1252"))
    assert text == TEXT
    assert "Windows-1252" in warnings[0]


def test_latin_1_where_windows_1252_has_no_character() -> None:
    text, warnings = decode("caf\xe9 \x81".encode("latin-1"))
    assert text == "caf\xe9 \x81"
    assert "Latin-1" in warnings[0]


def test_one_damaged_byte_does_not_make_utf_8_mojibake() -> None:
    text, warnings = decode(("ñandú " * 5).encode() + b"\xff fin")
    assert text == "ñandú " * 5 + "\ufffd fin"
    assert "�: 1" in warnings[0]


@pytest.mark.parametrize(
    "controls", ["\x1b[31merror\x1b[0m", "page one\x0cpage two", "o\x08o\x08o, as printers underline", "\x07"]
)
def test_controls_that_logs_and_printer_files_hold_are_text(controls: str) -> None:
    text = f"{controls} and then thirty more words of an ordinary line, as there are in any log file.\n"
    assert decode(text.encode()) == (text, ())


def test_line_ends_become_one_kind_and_nothing_else_changes() -> None:
    assert decode("a\r\nb\rc\u2028e\u0301\x0c\td".encode())[0] == "a\nb\nc\u2028e\u0301\x0c\td"


@pytest.mark.parametrize(
    ("data", "title"),
    [
        (b"", "Empty document"),
        (b" \n\t\r\n", "Empty document"),
        (b"\xef\xbb\xbf", "Empty document"),
        (b"abc\0def", "Binary file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(1, 32)) * 9, "Binary file"),
        (b"\xff\xfea", "Bad encoding"),
        ("a\0b".encode("utf-16"), "Binary file"),
    ],
)
def test_what_is_no_text_is_named(data: bytes, title: str) -> None:
    with pytest.raises(DocumentError) as caught:
        decode(data)
    assert caught.value.title == title
    assert caught.value.remedy


def test_the_format_is_told_from_extension_and_beginning() -> None:
    assert format_of(b"# x", "a.MD").name == "Markdown"
    assert format_of(b"%PDF-1.4", "a.txt").name == "PDF"
    assert format_of(b"<!DOCTYPE html>", "page").name == "HTML"
    assert format_of(b"<!DOCTYPE html>", "page.txt").name == "text"
    assert format_of(b"anything", "a.unknown").name == "text"
    assert format_of(b"PK\x03\x04 some other zip", "a.jar").name == "text"
    assert parse_bytes(make.docx(lambda d: d.add_paragraph("hola")), "no-extension").text == "hola"


def test_files_that_cannot_be_read_say_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DocumentError, match="no such file"):
        parse(tmp_path / "gone.txt")
    with pytest.raises(DocumentError, match="it is a folder"):
        parse(tmp_path)
    with pytest.raises(DocumentError, match="device"):
        parse(Path(os.devnull))
    large = tmp_path / "large.txt"
    large.write_text("x" * 100)
    monkeypatch.setattr(parsing, "MAX_BYTES", 99)
    with pytest.raises(DocumentError, match="too large"):
        parse(large)


def test_the_name_that_is_given_is_the_documents_path(tmp_path: Path) -> None:
    file = tmp_path / "box.py"
    file.write_text("x = 1\n")
    assert parse(file, "pkg/box.py").metadata["path"] == "pkg/box.py"
    assert parse(file).title == "box.py"
