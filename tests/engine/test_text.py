"""Streamed text: whole characters, and nothing of a stop string."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.text import StopScanner

texts = st.text(alphabet="ab ñ日🦙\n", max_size=30)
stops = st.lists(st.text(alphabet="ab ñ日", max_size=4), max_size=3)


def stream(data: bytes, stop: list[str], cuts: list[int]) -> tuple[str, bool]:
    scanner, text, at = StopScanner(stop), "", 0
    for cut in [*sorted(cuts), len(data)]:
        text += scanner.feed(data[at:cut])
        at = max(at, cut)
    return text + scanner.finish(), scanner.stopped


@given(texts, stops, st.lists(st.integers(0, 90), max_size=12))
def test_text_streams_unchanged_up_to_a_stop_string(text: str, stop: list[str], cuts: list[int]) -> None:
    data = text.encode()
    streamed, stopped = stream(data, stop, [cut for cut in cuts if cut <= len(data)])
    real = [s for s in stop if s]
    assert stopped == any(s in text for s in real)
    assert text.startswith(streamed)
    assert not any(s in streamed for s in real)
    if stopped:
        assert any(text[len(streamed) :].startswith(s) for s in real)
    else:
        assert streamed == text


def test_what_cannot_become_a_stop_string_is_shown_at_once() -> None:
    scanner = StopScanner(["</answer>"])
    assert scanner.feed(b"see </b") == "see </b"
    assert scanner.feed(b"> </ans") == "> "
    assert scanner.feed(b"wers>") == "</answers>"


def test_bytes_that_never_become_a_character_are_marked() -> None:
    scanner = StopScanner([])
    assert scanner.feed("🦙".encode()[:3]) == ""
    assert scanner.finish() == "\ufffd"
