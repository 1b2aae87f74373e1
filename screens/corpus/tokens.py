"""The tab of tokens: the chunk's words as they are indexed, a question's beside them, and the embedder's pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from screens.corpus.tab import ChunkTab
from screens.style import Line, Tone, content, count
from screens.widgets.facts import Fact, Facts
from screens.work import Jobs, Latest
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.lenses.told import column_words
from workbench.records.corpus import Chunk
from workbench.records.lenses import AskedWord, IndexedWord, PieceLens, WordLens

if TYPE_CHECKING:
    from screens.app import WorkbenchApp
    from workbench.desk import Desk


class TokensTab(ChunkTab):
    """A line for a question, and what of it this chunk has; then words, then pieces."""

    DEFAULT_CSS = """
    TokensTab Input { height: 1; border: none; padding: 0; background: $surface; }
    TokensTab Static, TokensTab Facts { margin-top: 1; }
    """

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self._latest = Latest(jobs, self, self._read_words, self._draw_words, self._failed)

    def compose(self) -> ComposeResult:
        """The question, its words, the chunk's, its pieces."""
        yield Input(placeholder=tr("t: a question, to see which of its words this chunk has"), compact=True)
        yield Static(id="asked")
        yield Static(id="pieces")
        yield Facts(id="words")

    def show(self, chunk: Chunk | None) -> None:
        """Reads both."""
        if chunk is None:
            for text in self.query(Static):
                text.update(Content(""))
            return
        self._ask(chunk)
        self.jobs.read(self, lambda: self.desk.lenses.pieces(chunk), lambda found: self._draw_pieces(chunk, found))

    @on(Input.Changed)
    def asked(self) -> None:
        """Its words, as it is typed."""
        if self.chunk is not None:
            self._ask(self.chunk)

    def _ask(self, chunk: Chunk) -> None:
        self._latest.submit((chunk, self.query_one(Input).value))

    def _read_words(self, asked: tuple[Chunk, str]) -> WordLens:
        return self.desk.lenses.words(*asked)

    def _failed(self, error: WorkbenchError) -> None:
        cast("WorkbenchApp", self.app).show_error(error)

    def _draw_words(self, about: tuple[Chunk, str], found: WordLens) -> None:
        if about[0] is not self.chunk:
            return
        asked = self.query_one("#asked", Static)
        asked.update(content(*_asked(found)) if found.query else Content(""))
        asked.display = bool(found.query)
        self.query_one("#words", Facts).show(_words(found))

    def _draw_pieces(self, chunk: Chunk, found: PieceLens) -> None:
        if chunk is self.chunk:
            self.query_one("#pieces", Static).update(content(*_pieces(found)))


def _asked(found: WordLens) -> Iterator[Line]:
    """A line per word of the question: where it is looked for, how rare it is, what it adds to the score."""
    width = max((len(word.word) for word in found.asked), default=0)
    for word in found.asked:
        has = word.score > 0
        yield ("✓ " if has else "– ", Tone.GOOD if has else Tone.DIM)
        yield (f"{word.word:<{width}}  ", Tone.PLAIN if has else Tone.DIM)
        yield (_asked_facts(word), Tone.DIM)
        yield "\n"
    yield tr("BM25 of this chunk: {score}", score=f"{found.score:.2f}")
    if found.dropped:
        yield ("   " + tr("Not asked for: {words}", words=", ".join(found.dropped)), Tone.DIM)


def _asked_facts(word: AskedWord) -> str:
    score = f"{word.score:.2f}" if word.score else "–"
    return tr(
        "{score} · idf {idf} · in {chunks} chunks · {where}",
        score=f"{score:>6}",
        idf=f"{word.idf:5.2f}",
        chunks=count(word.chunks),
        where=column_words(word.columns),
    )


def _words(found: WordLens) -> list[Fact]:
    """Every column's words in order of the text, each with the number of chunks that have it."""
    asked = {word.word for word in found.asked if word.score > 0}
    columns = list(dict.fromkeys(word.column for word in found.words))
    facts = [
        (column_words(column), tuple(_word(word, asked) for word in found.words if word.column == column))
        for column in columns
    ]
    told: Line = (tr("behind each word: how many of the {count} chunks have it", count=count(found.total)), Tone.DIM)
    return [(tr("words"), told), *facts]


def _word(word: IndexedWord, asked: set[str]) -> Line:
    times = f"×{word.count}" if word.count > 1 else ""
    tone = Tone.GOOD if word.word in asked else Tone.PLAIN
    return ((word.word + times, tone), (f" {word.chunks}  ", Tone.DIM))


def _pieces(lens: PieceLens) -> Iterator[Line]:
    """The counts, then the text with its pieces told apart, and the rest that the embedder doesn't read."""
    for one in lens.counts:
        yield (f"{one.tokenizer}  {count(one.tokens)}", Tone.PLAIN)
        yield (f"  {one.note}\n", Tone.DIM)
    if lens.reason:
        yield (lens.reason, Tone.WARN)
        return
    yield (tr("{pieces} pieces; the embedder adds {added} and reads {limit}.", pieces=count(len(lens.pieces)),
              added=lens.added, limit=count(lens.limit)), Tone.DIM)  # fmt: skip
    yield "\n"
    yield from _told_apart(lens.text, lens.pieces[: lens.read])
    if lens.cut is not None:
        yield ("\n✂ " + tr("the embedder does not see its end") + "\n", Tone.BAD)
        yield (lens.text[lens.cut :], Tone.DIM)


def _told_apart(text: str, pieces: Sequence[tuple[int, int]]) -> Iterator[Line]:
    """Neighbouring pieces in turns plain and accented, so that each is seen whatever stands between them."""
    at = 0
    for number, (start, end) in enumerate(pieces):
        yield text[at:start]
        yield (text[start:end], Tone.ACCENT if number % 2 else Tone.PLAIN)
        at = end
