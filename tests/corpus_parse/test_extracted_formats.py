"""HTML, PDF and Word: formats whose text is extracted."""

from __future__ import annotations

import io
import zipfile
from datetime import UTC, date, datetime
from typing import Any

import pypdfium2
import pytest

from tests.corpus_parse import make
from tests.corpus_parse.contract import check, of, shown
from tests.data import shared
from workbench.corpus.parse import parse, parse_bytes
from workbench.errors import DocumentError
from workbench.records.corpus import ParsedDocument

HTML = """<!DOCTYPE html><html lang="es-ES"><head><title>La  página</title>
<meta name="author" content="Ana"><meta property="article:published_time" content="2026-03-01T10:00:00Z">
<meta name="description" content="Qué es"><style>p{}</style><script>alert(1)</script></head>
<body><nav><a href=/>Home</a></nav><header><h1>The <em>title</em></h1></header>
<p>One&nbsp;paragraph,<br>two lines. <span hidden>secret</span><b style="display: none">also</b></p>
<div>Loose text <p>and more</div>
<ul><li>first<ul><li>nested</li></ul><li>second</ul>
<pre><code class="language-python">def f():
    return 1</code></pre>
<table><caption>Prices</caption><thead><tr><th>a<th>b</tr></thead><tr><td>1<td>2 <i>x</i></tr><tr><td>3<td></tr></table>
<blockquote><p>Said.</p><p>Done.</p></blockquote>
<table><tr><td><h2>Laid out</h2>by a table</td></tr></table>
<!-- comment --><template>no</template></body></html>"""


def parsed(data: bytes, name: str) -> ParsedDocument:
    return check(parse_bytes(data, name))


def test_html_structure_and_metadata() -> None:
    document = parsed(HTML.encode(), "page.html")
    assert document.title == "La página"
    assert document.metadata == {
        "title": "La página",
        "language": "es",
        "author": "Ana",
        "date": date(2026, 3, 1),
        "description": "Qué es",
    }
    assert shown(document) == [
        ("heading", "The title"),
        ("paragraph", "One paragraph,\ntwo lines."),
        ("paragraph", "Loose text"),
        ("paragraph", "and more"),
        ("list", "- first\n  - nested"),
        ("list", "- second"),
        ("code", "def f():\n    return 1"),
        ("paragraph", "Prices"),
        ("table", "a | b"),
        ("row", "1 | 2 x"),
        ("row", "3 |"),
        ("quote", "Said.\nDone."),
        ("heading", "Laid out"),
        ("paragraph", "by a table"),
    ]
    assert {b.header for b in document.blocks if b.kind == "row"} == {"a | b"}
    assert [(b.level, b.label) for b in document.blocks if b.kind == "heading"] == [(1, "The title"), (2, "Laid out")]
    assert next(b.label for b in document.blocks if b.kind == "code") == "python"


def test_html_line_ends_by_reference_become_newlines() -> None:
    assert parsed(b"<pre>a&#13;\nb&#13;c</pre>", "a.html").text == "a\nb\nc"


def test_html_in_a_declared_encoding() -> None:
    source = '<meta charset="windows-1251"><p>Привет, мир'
    assert parsed(source.encode("cp1251"), "r.html").text == "Привет, мир"


def test_html_without_readable_text_is_empty() -> None:
    with pytest.raises(DocumentError, match="Empty"):
        parse_bytes(b"<html><script>x()</script><nav>menu</nav>", "a.html")


def test_html_nested_without_end_is_refused_at_once() -> None:
    with pytest.raises(DocumentError, match="nested"):
        parse_bytes(b"<div>" * 200_000 + b"x", "a.html")
    assert parsed(b"<div><b>" * 2_000 + b"deep", "a.html").text == "deep"


def test_pdf_pages_and_paragraphs_of_a_real_file() -> None:
    document = check(parse(shared("pdf", "multicolumn.pdf")))
    assert [(page.number, page.label) for page in document.pages] == [(1, "1"), (2, "2"), (3, "3")]
    assert "consectetuer adipiscing elit" in document.text  # hyphenated at the line's end in the file
    assert "Nam dui ligula" in document.text[document.pages[0].start : document.pages[0].end]
    paragraph = next(b for b in document.blocks if of(document, b).startswith("Nam dui ligula"))
    assert of(document, paragraph).endswith("luctus mauris.")  # and not at the first short line
    assert document.metadata["created"] == date(2024, 1, 3)


def test_a_sentence_that_runs_over_pages_stays_one_paragraph() -> None:
    document = check(parse(shared("pdf", "pdflatex-4-pages.pdf")))
    assert len(document.pages) == 4
    assert len(document.blocks) == 1


def test_every_real_pdf_reads_or_tells_why() -> None:
    outcomes = {}
    for path in sorted(shared("pdf").glob("*.pdf")):
        try:
            outcomes[path.stem] = len(check(parse(path)).pages)
        except DocumentError as error:
            outcomes[path.stem] = error.title
    assert outcomes["libreoffice-writer-password"] == "Locked PDF"
    assert sum(isinstance(outcome, int) for outcome in outcomes.values()) == len(outcomes) - 1


def test_pages_without_text_are_named_in_a_warning() -> None:
    document = check(parse(shared("pdf", "imagemagick-images.pdf")))
    assert "4, 5" in document.warnings[0]
    assert document.title == "imagemagick-images"  # its title property ends in a NUL


def test_a_pdf_without_any_text_names_ocr_as_the_remedy() -> None:
    with pytest.raises(DocumentError) as caught:
        parse_bytes(make.pdf([[""], [""]]), "scan.pdf")
    assert "OCR" in caught.value.remedy


def test_a_damaged_pdf_is_not_said_to_be_images() -> None:
    data = bytearray(make.pdf([["Some text to find."]]))
    start = data.index(b"stream", data.index(b"stream") - 8)
    data[start + 7 : data.index(b"endstream")] = bytes(b ^ 0x55 for b in data[start + 7 : data.index(b"endstream")])
    with pytest.raises(DocumentError) as caught:
        parse_bytes(bytes(data), "x.pdf")
    assert "damaged" in caught.value.message
    assert "images" not in caught.value.message


def test_a_scan_is_said_to_be_images() -> None:
    with pytest.raises(DocumentError, match="they are images"):
        parse_bytes(scan(), "scan.pdf")


def scan() -> bytes:
    """A page that is one image."""
    document = pypdfium2.PdfDocument.new()
    page = document.new_page(100, 100)
    image = pypdfium2.PdfImage.new(document)
    image.set_bitmap(pypdfium2.PdfBitmap.new_native(8, 8, 4))
    image.set_matrix(pypdfium2.PdfMatrix().scale(50, 50))
    page.insert_obj(image)
    page.gen_content()
    data = io.BytesIO()
    document.save(data)
    return data.getvalue()


def test_outline_entries_become_headings_where_their_title_stands() -> None:
    pages = [["Contents", "Scope 2", "Not there 2"], ["1.2 Scope", "It holds here.", "Scope of work is large."]]
    data = make.pdf(pages, [("Scope", 1), ("Not there", 1)], title="(Rules)")
    document = parsed(data, "rules.pdf")
    assert document.title == "Rules"
    headings = [b for b in document.blocks if b.kind == "heading"]
    assert [(b.level, b.label) for b in headings] == [(1, "1.2 Scope")]
    assert headings[0].start >= document.pages[1].start
    assert "1 of 2" in document.warnings[0]


def test_a_damaged_pdf_is_an_error_and_no_crash() -> None:
    good = make.pdf([["Some text"]])
    for data in (b"%PDF-1.7\n" + bytes(range(256)) * 40, good[:200], b"\x00garbage"):
        with pytest.raises(DocumentError):
            parse_bytes(data, "x.pdf")


def _rules(document: Any) -> None:
    document.core_properties.title = "Reglas"
    document.core_properties.author = "Ana"
    document.core_properties.created = datetime(2026, 1, 2, tzinfo=UTC)
    document.core_properties.modified = datetime(2026, 1, 3, tzinfo=UTC)
    document.add_heading("Ámbito", level=1)
    document.add_paragraph("Un párrafo.")
    document.add_heading("Detalle", level=2)
    document.add_paragraph("uno", style="List Bullet")
    document.add_paragraph("dos", style="List Number")
    table = document.add_table(rows=3, cols=2)
    for i, row in enumerate(table.rows):
        for j, cell in enumerate(row.cells):
            cell.text = f"{i},{j}"


def test_docx_structure_and_properties() -> None:
    document = parsed(make.docx(_rules), "rules.docx")
    assert document.title == "Reglas"
    assert document.metadata["author"] == "Ana"
    assert document.metadata["created"] == date(2026, 1, 2)
    assert [(b.kind, b.level, of(document, b), b.header) for b in document.blocks] == [
        ("heading", 1, "Ámbito", ""),
        ("paragraph", 0, "Un párrafo.", ""),
        ("heading", 2, "Detalle", ""),
        ("list", 1, "- uno", ""),
        ("list", 1, "- dos", ""),
        ("table", 0, "0,0 | 0,1", ""),
        ("row", 0, "1,0 | 1,1", "0,0 | 0,1"),
        ("row", 0, "2,0 | 2,1", "0,0 | 0,1"),
    ]


def test_docx_keeps_tracked_insertions_and_drops_deletions() -> None:
    from docx.oxml import parse_xml

    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'

    def build(document: Any) -> None:
        paragraph = document.add_paragraph("kept ")._p
        paragraph.append(parse_xml(f"<w:ins {space}><w:r><w:t>inserted</w:t></w:r></w:ins>"))
        paragraph.append(parse_xml(f"<w:del {space}><w:r><w:delText>deleted</w:delText></w:r></w:del>"))
        control = f"<w:sdt {space}><w:sdtContent><w:p><w:r><w:t>in a control</w:t></w:r></w:p></w:sdtContent></w:sdt>"
        document.element.body.insert(0, parse_xml(control))

    assert parsed(make.docx(build), "a.docx").text == "in a control\n\nkept inserted"


def test_damaged_locked_and_exploding_docx() -> None:
    good = make.docx(_rules)
    for bad in (good[: len(good) // 2], b"PK\x03\x04junk", b"text"):
        with pytest.raises(DocumentError, match="Damaged"):
            parse_bytes(bad, "x.docx")
    with pytest.raises(DocumentError, match="Locked"):
        parse_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "x.docx")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("word/document.xml", "x")
        archive.filelist[0].file_size = 2**31
    with pytest.raises(DocumentError, match="too large"):
        parse_bytes(file.getvalue(), "x.docx")


def test_an_empty_docx_is_empty() -> None:
    with pytest.raises(DocumentError, match="Empty"):
        parse_bytes(make.docx(lambda document: None), "x.docx")


def test_a_printed_page_number_is_no_text_of_the_page() -> None:
    document = parsed(make.pdf([["It begins here and", "1"], ["2", "goes on there."], ["3"]]), "n.pdf")
    assert document.text == "It begins here and\ngoes on there.\n\n3"
    assert [page.number for page in document.pages] == [1, 2, 3]


def test_a_title_that_is_no_text_loses_only_the_title() -> None:
    document = parsed(make.pdf([["Some text"]], title="<FEFFD800>"), "n.pdf")
    assert (document.title, document.text) == ("n", "Some text")


def test_list_items_of_a_pdf_are_blocks() -> None:
    document = parsed(make.pdf([["We need:", "- water", "- bread and", "  butter"]]), "n.pdf")
    assert shown(document) == [("paragraph", "We need:"), ("list", "- water"), ("list", "- bread and\nbutter")]
