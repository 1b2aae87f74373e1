"""Opening a source at the place of a chunk or a citation, the span lit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from screens.dialogs import PassageDialog
from screens.style import count
from workbench.i18n import tr

if TYPE_CHECKING:
    from screens.base import ModeScreen
    from workbench.desk import Desk


@dataclass(frozen=True, slots=True)
class SourceView:
    """A stored source and the span of it to light."""

    title: str
    text: str
    start: int
    end: int


def read_span(desk: Desk, document_id: str, start: int, end: int) -> SourceView:
    """Reads the document in the calling thread. Raises NotFoundError."""
    document = desk.document(document_id)
    return SourceView(document.source_id, desk.document_text(document_id), start, end)


def read_chunk(desk: Desk, chunk_id: str) -> SourceView:
    """The source of a chunk, the chunk lit. Raises NotFoundError."""
    chunk = desk.chunk(chunk_id)
    return read_span(desk, chunk.document_id, chunk.start, chunk.end)


def show_source(screen: ModeScreen, view: SourceView) -> None:
    """Pushes the dialog."""
    place = tr("characters {start}–{end}", start=count(view.start), end=count(view.end))
    screen.app.push_screen(PassageDialog(view.title, view.text, view.start, view.end, place))
