"""What a refusal means: which layer of a call failed, told from its status and its words, and what helps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from workbench.errors import ServerError
from workbench.i18n import tr
from workbench.records.servers import Layer
from workbench.text.clean import printable

EXCERPT: Final = 300
"""Characters of a reply that an error quotes."""


def refusal(url: str, status: int, text: str) -> ServerError:
    """The error that an error status and its body are."""
    layer = layer_of(status, text)
    if _LOADING in text.casefold():
        title, remedy = tr("The model is still loading"), tr("Wait until the server has it in memory, then try again.")
    else:
        title, remedy = _TITLES[layer](), _REMEDIES[layer]()
    return ServerError(
        title,
        tr("{url} answered {status}: {text}", url=url, status=status, text=excerpt(message_of(text))),
        remedy,
        layer=layer,
        status=status,
    )


def message_of(text: str) -> str:
    """What an error's body says: the message in it where it is JSON of any of the usual shapes, else all of it."""
    try:
        body = json.loads(text)
    except ValueError:
        return text
    while isinstance(body, dict):
        inner = next((body[key] for key in ("error", "message", "detail", "error_message") if body.get(key)), None)
        if inner is None:
            return text
        body = inner
    return str(body)


def layer_of(status: int, text: str) -> Layer:
    """Which layer an error status with that body is about; servers differ in status, so the words count too."""
    said = text.casefold()
    if status in (401, 403):
        return "key"
    for layer, marks in _MARKS.items():
        if any(mark in said for mark in marks):
            return layer
    if status == 404:
        return "model" if "model" in said else "endpoint"
    if status in (429, 503):
        return "overload"
    if status in (408, 504):
        return "timeout"
    return "request" if 400 <= status < 500 else "server"


_LOADING: Final = "loading model"
_MARKS: Final[Mapping[Layer, tuple[str, ...]]] = {
    "context": (
        "context length",
        "context size",
        "context window",
        "exceed_context",
        "context_length",
        "max_model_len",
    ),
    "memory": ("out of memory", "requires more system memory", "cuda error", "oom", "insufficient memory"),
    "template": ("chat template", "jinja", "chat_template"),
    "model": ("model not found", "try pulling", "does not exist", "model_not_found", _LOADING, "not loaded"),
}
_TITLES: Final = {
    "endpoint": lambda: tr("Nothing there"),
    "key": lambda: tr("The server wants a key"),
    "model": lambda: tr("The model isn't there"),
    "memory": lambda: tr("The server has no memory for it"),
    "template": lambda: tr("The chat template fails"),
    "context": lambda: tr("It doesn't fit the server's context"),
    "request": lambda: tr("The server refused the request"),
    "json": lambda: tr("The reply is no JSON"),
    "overload": lambda: tr("The server is busy"),
    "timeout": lambda: tr("The server is too slow"),
    "server": lambda: tr("The server failed"),
}
_REMEDIES: Final = {
    "endpoint": lambda: tr("Check the address: some servers want a path before /v1."),
    "key": lambda: tr("Name the variable that holds the key: workbench servers add URL --key-variable NAME"),
    "model": lambda: tr("workbench servers lists the models it serves; load or pull it there first."),
    "memory": lambda: tr("Unload another model there, or take a smaller one."),
    "template": lambda: tr("Give the model another chat template on the server."),
    "context": lambda: tr("Start the server with a larger context, or ask with less evidence."),
    "request": lambda: tr("workbench servers check URL tells what this server takes."),
    "json": lambda: tr("Something else may listen at this address."),
    "overload": lambda: tr("Wait, or lower the number of requests at once."),
    "timeout": lambda: tr("Look at the server's log, then try again."),
    "server": lambda: tr("Look at the server's log."),
}


def excerpt(text: str) -> str:
    """On one line, harmless to a terminal, and no longer than ``EXCERPT``."""
    flat = " ".join(text.split())
    return printable(flat if len(flat) <= EXCERPT else flat[:EXCERPT] + "…", newlines=False)
