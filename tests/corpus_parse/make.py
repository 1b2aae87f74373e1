"""Small real files, made in memory."""

from __future__ import annotations

import io
from typing import Any


def pdf(pages: list[list[str]], outline: list[tuple[str, int]] | None = None, title: str = "()") -> bytes:
    """A PDF with one line of text for each string (none for an empty page) and an outline of (title, page from 0).

    ``title`` is a PDF string object, brackets included.
    """
    outline = outline or []
    count, first_entry = len(pages), 3 + 2 * len(pages)
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(count))
    objects = [
        f"<</Type/Catalog/Pages 2 0 R/Outlines {first_entry + 1} 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {count}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    ]
    for i, lines in enumerate(pages):
        drawn = "".join(f"BT /F1 12 Tf 72 {700 - 14 * n} Td ({line}) Tj ET\n" for n, line in enumerate(lines) if line)
        resources = "/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>"
        objects.append(f"<</Type/Page/Parent 2 0 R/Contents {5 + 2 * i} 0 R{resources}>>")
        objects.append(f"<</Length {len(drawn)}>>stream\n{drawn}\nendstream")
    last = first_entry + 1 + len(outline)
    objects.append(f"<</Type/Outlines/First {first_entry + 2} 0 R/Last {last} 0 R/Count {len(outline)}>>")
    for i, (name, page) in enumerate(outline):
        following = f"/Next {first_entry + 3 + i} 0 R" if i + 1 < len(outline) else ""
        objects.append(
            f"<</Title({name})/Parent {first_entry + 1} 0 R/Dest[{4 + 2 * page} 0 R/XYZ 72 700 0]{following}>>"
        )
    objects.append(f"<</Title{title}>>")
    body = "%PDF-1.4\n" + "".join(f"{n} 0 obj\n{o}\nendobj\n" for n, o in enumerate(objects, 1))
    return (body + f"trailer<</Root 1 0 R/Info {len(objects)} 0 R/Size {len(objects) + 1}>>\n%%EOF").encode("latin-1")


def docx(build: Any) -> bytes:
    """A docx file: ``build`` fills a new python-docx document."""
    from docx import Document

    document = Document()
    build(document)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()
