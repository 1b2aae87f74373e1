"""Metadata: typed values, well-known keys, and where they come from (the document, a sidecar file, the person)."""

from __future__ import annotations

import hashlib
import json
import math
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Final

import yaml

from workbench.errors import DocumentError, UsageError, reason_of
from workbench.i18n import tr
from workbench.records.corpus import Metadata, MetaValue
from workbench.retrieval.filter_values import type_name

SIDECAR_SUFFIX: Final = ".meta.yaml"
TEXT_KEYS: Final = frozenset({"source_id", "title", "version", "owner", "language", "status"})
DATE_KEYS: Final = frozenset({"date", "valid_from", "valid_to"})
LIST_KEYS: Final = frozenset({"roles", "tags"})
WELL_KNOWN: Final = TEXT_KEYS | DATE_KEYS | LIST_KEYS
TAKEN_KEYS: Final = frozenset({"uri", "media_type", "section", "kind", "page", "tokens"})
"""What filters ask of a document or a chunk itself, whatever its metadata say."""
STATUSES: Final = ("current", "retired")

_KEY: Final = re.compile(r"[^\W\d][\w.-]*")
_NUMBER: Final = re.compile(r"[+-]?(?:0|[1-9]\d*)(\.\d+)?(?:[eE][+-]?\d+)?")
_ISO_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?")
_LANGUAGE: Final = re.compile(r"([A-Za-z]{2,3})(?:[-_].*)?")
_LARGEST_INT: Final = 2**63 - 1  # what a database column holds


def typed(value: object) -> MetaValue:
    """``value`` as metadata holds it: bool, int, float, date, tuple of text, else text.

    Text that is an ISO date becomes a date, as does a date with a time: the time is dropped. Numbers that no column can
    hold (not finite, beyond 64 bits) become text, and so does a nested mapping.
    """
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, (bool, date)):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _LARGEST_INT else hex(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return tuple(_text(item) for item in value)
    text = _text(value)
    return _iso_date(text) or text


def kind_of(value: MetaValue) -> str:
    """How a metadata value compares: "text", "number", "date", "bool" or "list"."""
    if isinstance(value, bool):  # before int, which a bool also is
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, date):
        return "date"
    return "list" if isinstance(value, (tuple, list)) else "text"


def other_kind(field: str, value: MetaValue, known: Collection[str]) -> str:
    """A warning where the value is of another type than the field has elsewhere (``known``), else "".

    So it warns of a field new to the collection whose name filters take for something else.
    """
    kind = kind_of(value)
    if not known and field in TAKEN_KEYS:
        return tr("“{field}” means the chunk's own to filters: none can meet what is given here.", field=field)
    if not known or kind in known:
        return ""
    return tr(
        "“{field}” is of type {kind} here, {others} elsewhere: filters compare like with like.",
        field=field,
        kind=type_name(kind),
        others=" / ".join(type_name(other) for other in sorted(known)),
    )


def checked(fields: Metadata) -> tuple[dict[str, MetaValue], list[str]]:
    """The fields with the well-known ones in their own type, and a sentence for each that can't be (it is left out)."""
    good: dict[str, MetaValue] = {}
    problems: list[str] = []
    for key, value in fields.items():
        try:
            good[key] = _well_known(key, value) if key in WELL_KNOWN else typed(value)
        except ValueError as problem:
            problems.append(str(problem))
    return good, problems


def from_document(fields: Metadata) -> tuple[dict[str, MetaValue], tuple[str, ...]]:
    """What a document says about itself: the fields that hold, and a warning for each one that was left out."""
    good, problems = checked(fields)
    return good, tuple(tr("Left out of the metadata: {problem}", problem=problem) for problem in problems)


def parse_assignments(assignments: Iterable[str]) -> dict[str, MetaValue]:
    """``("year=2026", "roles=student,teacher", "tags=[a, b]")`` as typed metadata; quotes keep a value text.

    ``key=`` gives an empty text, whatever the key: it is given no more.

    Raises:
        UsageError: no ``=``, an impossible key, or a value that a well-known key can't have.
    """
    fields: dict[str, MetaValue] = {}
    for assignment in assignments:
        key, equals, value = (part.strip() for part in assignment.partition("="))
        if not (equals and _KEY.fullmatch(key)):
            raise UsageError(
                tr("Metadata not understood"),
                tr("“{given}” is not of the form key=value.", given=assignment),
                tr("Write for example: --meta year=2026 --meta roles=student,teacher"),
            )
        fields[_canonical(key)] = _scalar(value, _canonical(key))
    cleared = {key: value for key, value in fields.items() if value == ""}
    return _checked_or_usage_error({key: value for key, value in fields.items() if value != ""}) | cleared


def sidecar(path: Path) -> dict[str, MetaValue]:
    """Metadata from ``NAME.meta.yaml`` beside a file (``report.pdf.meta.yaml``, else ``report.meta.yaml``).

    Empty when there is none.

    Raises:
        DocumentError: it can't be read, isn't YAML, isn't a mapping, or a well-known key has an impossible value.
    """
    for candidate in (path.with_name(path.name + SIDECAR_SUFFIX), path.with_name(path.stem + SIDECAR_SUFFIX)):
        if candidate.is_file():
            return _read_sidecar(candidate)
    return {}


def merge(document: Metadata, sidecar: Metadata, given: Metadata) -> dict[str, MetaValue]:
    """What is known of a document: its own word, overruled by its sidecar, overruled by the person.

    Raises:
        UsageError: a well-known key has a value it can't have.
    """
    return _checked_or_usage_error({**document, **sidecar, **given})


def metadata_hash(metadata: Metadata) -> str:
    """SHA-256 of the metadata, in hexadecimal: the same for the same keys and typed values in any order."""
    plain = {key: {"date": value.isoformat()} if isinstance(value, date) else value for key, value in metadata.items()}
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def read_yaml(text: str) -> dict[str, MetaValue] | None:
    """The top level of a YAML mapping as metadata, not yet checked; None when it is no mapping. Nulls are left out.

    Plain scalars are typed by our own rules, not YAML 1.1's: ``no`` is Norwegian and ``version: 1.10`` ends in a zero.

    Raises:
        ValueError: not YAML, nested too deeply, with one name twice, or with aliases (which can blow up a small file
            without bound).
    """
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise ValueError(_first_line(error)) from error
    except (RecursionError, ValueError, AttributeError, TypeError) as error:
        raise ValueError(tr("it can't be read")) from error
    if not isinstance(root, yaml.MappingNode):
        return None
    fields: dict[str, MetaValue] = {}
    for key_node, node in root.value:
        key = _canonical("_".join(re.findall(r"[\w.-]+", _node_text(key_node))))
        if key in fields:
            raise ValueError(tr("“{name}” stands in it twice", name=key))
        if key and not (isinstance(node, yaml.ScalarNode) and node.style is None and node.value in ("", "~", "null")):
            fields[key] = _node_value(key, node)
    return fields


def read_toml(text: str) -> dict[str, MetaValue]:
    """The top level of a TOML document as metadata, not yet checked.

    Raises:
        ValueError: not TOML, or nested too deeply.
    """
    try:
        return {_canonical(key): typed(value) for key, value in tomllib.loads(text).items()}
    except RecursionError as error:
        raise ValueError(tr("it can't be read")) from error


class _Loader(yaml.BaseLoader):
    """Reads the tree and refuses aliases."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError(tr("aliases are not allowed"))
        return super().compose_node(parent, index)


def _node_value(key: str, node: yaml.Node) -> MetaValue:
    if isinstance(node, yaml.SequenceNode):
        return tuple(_node_text(item) for item in node.value)
    text = _node_text(node)
    is_plain = isinstance(node, yaml.ScalarNode) and node.style is None
    return _scalar(text, key) if is_plain else typed(text)


def _node_text(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return _text(node.value)
    if isinstance(node, yaml.SequenceNode):
        return ", ".join(_node_text(item) for item in node.value)
    return "; ".join(f"{_node_text(key)}: {_node_text(value)}" for key, value in node.value)


def _scalar(text: str, key: str = "") -> MetaValue:
    """Typed reading of bare text for ``key``: well-known text stays as it is written, quotes keep any text."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    if key in TEXT_KEYS:
        return text
    if text.startswith("[") and text.endswith("]"):
        return _split_list(text[1:-1])
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    number = _NUMBER.fullmatch(text)
    if number and len(text) < 20:
        return typed(int(text) if text.lstrip("+-").isdigit() else float(text))
    return typed(text)


def _well_known(key: str, value: MetaValue) -> MetaValue:
    """``value`` in the type that ``key`` has. Raises ValueError with a sentence."""
    if key in LIST_KEYS:
        return value if isinstance(value, tuple) else _split_list(_text(value))
    if key in DATE_KEYS:
        if isinstance(found := typed(value), date):
            return found
        raise ValueError(tr("{key} “{value}” is not a date such as 2026-01-31.", key=key, value=value))
    text = ", ".join(value) if isinstance(value, tuple) else _text(value)
    if key == "status":
        if text.lower() in STATUSES:
            return text.lower()
        raise ValueError(tr("status “{value}” is neither current nor retired.", value=text))
    if key == "language":
        if found_language := _LANGUAGE.fullmatch(text):
            return found_language[1].lower()
        raise ValueError(tr("language “{value}” is not a code such as es or en.", value=text))
    return text


def _checked_or_usage_error(fields: Metadata) -> dict[str, MetaValue]:
    good, problems = checked(fields)
    if problems:
        raise UsageError(tr("Metadata not understood"), problems[0], tr("Correct the value and try again."))
    return good


def _read_sidecar(path: Path) -> dict[str, MetaValue]:
    try:
        fields = read_yaml(path.read_text("utf-8-sig"))
    except (OSError, ValueError) as error:  # a UnicodeDecodeError is a ValueError
        raise _bad_sidecar(path, reason_of(error)) from error
    if fields is None:
        raise _bad_sidecar(path, tr("it is not a list of “key: value” lines"))
    good, problems = checked(fields)
    if problems:
        raise _bad_sidecar(path, problems[0])
    return good


def _bad_sidecar(path: Path, reason: str) -> DocumentError:
    return DocumentError(
        tr("Bad metadata file"),
        tr("{file} can't be used: {reason}", file=path.name, reason=reason),
        tr("Correct it, or remove it."),
    )


def _canonical(key: str) -> str:
    """The key as it is stored: well-known keys in lower case, others as they are written."""
    return key.lower() if key.lower() in WELL_KNOWN else key


def _split_list(text: str) -> tuple[str, ...]:
    return tuple(item for part in text.split(",") if (item := part.strip().strip("\"'")))


def _iso_date(text: str) -> date | None:
    if not _ISO_DATE.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _text(value: object) -> str:
    """As text that UTF-8 can hold; a mapping as JSON."""
    text = json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, Mapping) else str(value)
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "").strip()


def _first_line(error: Exception) -> str:
    """A YAML error in one line, with its place."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return tr("line {line}: {problem}", line=mark.line + 1, problem=problem) if mark else problem
