"""tiktoken counts from the local rank file, and never asks a network for it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from workbench.paths import tiktoken_folder
from workbench.text.counting import tiktoken_count

RANKS = "fb374d419588a4632f3f557e76b4b70aebbca790"


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.model
def test_counts_as_the_encoding_does(no_network: None) -> None:
    assert tiktoken_count("hello world") == 2
    assert tiktoken_count("") == 0
    assert tiktoken_count("<|endoftext|>") > 1


def test_without_the_file_the_count_is_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: None) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert tiktoken_count("hello world") == 0


@pytest.mark.model
def test_a_damaged_file_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: None) -> None:
    (tmp_path / RANKS).write_bytes((tiktoken_folder() / RANKS).read_bytes()[:-100])
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert tiktoken_count("hello world") == 0
    assert (tmp_path / RANKS).exists()
