"""Answers as JSON: the objects that are asked for, the grammar that forces one, and whether an answer is one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["string", "number", "boolean"]
_PYTHON: Final[dict[Kind, type | tuple[type, ...]]] = {"string": str, "number": (int, float), "boolean": bool}
_RULES: Final = r"""
string ::= "\"" sign{1,40} "\""
sign ::= [^"\\\x00-\x1f\x7f]
number ::= "-"? ("0" | [1-9] [0-9]{0,8}) ("." [0-9]{1,2})?
boolean ::= "true" | "false"
""".strip()


@dataclass(frozen=True, slots=True)
class Shape:
    """A flat JSON object: its keys in order, each with the kind of its value."""

    fields: tuple[tuple[str, Kind], ...]

    def schema(self) -> str:
        """As JSON Schema, the way it is shown to a model."""
        properties = {name: {"type": kind} for name, kind in self.fields}
        required = [name for name, _ in self.fields]
        body = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        return json.dumps(body, ensure_ascii=False)

    def grammar(self) -> str:
        """GBNF with root rule ``root``: exactly these keys in this order; texts of at most 40 characters."""
        pairs = [f'"\\"{name}\\": " {kind}' for name, kind in self.fields]
        return f'root ::= "{{" {""" ", " """.join(pairs)} "}}"\n{_RULES}\n'

    def holds(self, text: str) -> bool:
        """``text`` is such an object as a program would read it: nothing around it, no key missing, none too many."""
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return False
        if not isinstance(found, dict) or found.keys() != dict(self.fields).keys():
            return False
        return all(
            isinstance(found[name], _PYTHON[kind]) and isinstance(found[name], bool) == (kind == "boolean")
            for name, kind in self.fields
        )
