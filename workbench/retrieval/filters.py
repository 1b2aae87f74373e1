"""The filter language: ``status = current and year >= 2026 and "student" in roles`` becomes a tree, never SQL text.

Grammar (keywords in any case)::

    or     = and { "or" and }
    and    = not { "and" not }
    not    = "not" not | "(" or ")" | "exists" "(" field ")" | test
    test   = field ("=" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "contains" | "like") value
           | field ["not"] "in" "(" value { "," value } ")"
           | value ["not"] "in" field
    value  = "text" | 'text' | 2026 | 2.5 | 2026-01-31 | today | true | false | bareword
    field  = name | `any name`

``today`` is the date on which the filter is asked: ``not exists(valid_to) or valid_to >= today``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Final, NoReturn, cast

from workbench.errors import FilterError
from workbench.i18n import tr
from workbench.records.retrieval import AllOf, AnyOf, Comparator, Comparison, Exists, FilterNode, Not, OneOf, Scalar
from workbench.retrieval.filter_tokens import Token, fail, tokens, written_name
from workbench.retrieval.filter_values import checked_value, known_field, value_of

MAX_DEPTH: Final = 40
EVERYTHING: Final = AllOf(())

_COMPARATORS: Final = ("=", "==", "!=", "<", "<=", ">", ">=", "contains", "like")


def parse_filter(
    expression: str, fields: Mapping[str, Sequence[str]] | None = None, *, strict: bool = True
) -> FilterNode:
    """The tree of ``expression``; ``EVERYTHING`` when it is empty.

    Args:
        expression: at most ``filter_tokens.MAX_LENGTH`` characters, nested at most ``MAX_DEPTH`` deep.
        fields: known fields, each with the types that its values have ("text", "number", "date", "bool", "list"); None
            leaves names and types unchecked.
        strict: otherwise a name or type that ``fields`` hasn't is no error: such a comparison holds for nothing.

    Raises:
        FilterError: it doesn't parse, names an unknown field, or compares a field with a value of another type.
    """
    return _Parser(expression, fields, strict).parse()


def combine(*nodes: FilterNode) -> FilterNode:
    """All of ``nodes`` at once. Trees are joined, not texts, so an "or" in one can't widen another."""
    return _joined(AllOf, nodes)


def fields_of(node: FilterNode) -> frozenset[str]:
    """Names of the fields that ``node`` looks at."""
    match node:
        case AllOf(parts) | AnyOf(parts):
            return frozenset[str]().union(*map(fields_of, parts))
        case Not(part):
            return fields_of(part)
        case _:
            return frozenset({node.field})


def format_filter(node: FilterNode) -> str:
    """An expression that parses back to ``node``; "" when everything passes."""
    named = written_name
    match node:
        case AllOf(parts):
            return " and ".join(f"({format_filter(p)})" if isinstance(p, AnyOf) else format_filter(p) for p in parts)
        case AnyOf(parts):
            return " or ".join(map(format_filter, parts))
        case Not(part):
            return f"not ({format_filter(part)})"
        case Exists(field):
            return f"exists({named(field)})"
        case OneOf(field, values):
            return f"{named(field)} in ({', '.join(map(_literal, values))})"
        case Comparison(field, op, value):
            return f"{named(field)} {op} {_literal(value)}"


def _literal(value: Scalar) -> str:
    match value:
        case bool():
            return str(value).lower()
        case date():
            return value.isoformat()
        case float():
            return f"{Decimal(repr(value)):f}"  # the shortest digits that give the same number, without an exponent
        case int():
            return str(value)
        case _:
            escaped = value.replace("\\", "\\\\").replace('"', '\\"')
            return f'"{escaped}"'


def _joined(kind: type[AllOf] | type[AnyOf], parts: Sequence[FilterNode]) -> FilterNode:
    """One node of ``kind``, those of the same kind dissolved in it; a single part stands for itself."""
    flat: list[FilterNode] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, kind) else [part])
    return flat[0] if len(flat) == 1 else kind(tuple(flat))


class _Parser:
    """Recursive descent over the tokens; the depth is counted, so that hostile nesting is an error and not a crash."""

    def __init__(self, expression: str, fields: Mapping[str, Sequence[str]] | None, strict: bool) -> None:
        self.expression = expression
        self.fields = fields or {}
        self.strict = strict and fields is not None
        self.tokens = tokens(expression)
        self.at = 0
        self.depth = 0

    def parse(self) -> FilterNode:
        if self._peek().kind == "end":
            return EVERYTHING
        node = self._or()
        if self._peek().kind != "end":
            self._fail(self._peek(), tr("expected “and”, “or” or the end"))
        return node

    def _peek(self) -> Token:
        return self.tokens[self.at]

    def _take(self) -> Token:
        token = self._peek()
        self.at += token.kind != "end"
        return token

    def _fail(self, token: Token, message: str) -> NoReturn:
        fail(self.expression, token.start, message)

    def _accept(self, raw: str) -> bool:
        found = self._peek().kind in ("op", "keyword") and self._peek().raw == raw
        self.at += found
        return found

    def _expect(self, raw: str) -> None:
        if not self._accept(raw):
            self._fail(self._peek(), tr("expected “{what}”", what=raw))

    def _or(self) -> FilterNode:
        parts = [self._and()]
        while self._accept("or"):
            parts.append(self._and())
        return _joined(AnyOf, parts)

    def _and(self) -> FilterNode:
        parts = [self._not()]
        while self._accept("and"):
            parts.append(self._not())
        return _joined(AllOf, parts)

    def _not(self) -> FilterNode:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self._fail(self._peek(), tr("the filter is nested more than {limit} deep", limit=MAX_DEPTH))
        if self._accept("not"):
            node: FilterNode = Not(self._not())
        elif self._accept("("):
            node = self._or()
            self._expect(")")
        else:
            node = self._test()
        self.depth -= 1
        return node

    def _test(self) -> FilterNode:
        left = self._take()
        if left.kind == "bare" and left.raw.lower() == "exists" and self._accept("("):
            field = self._field(self._take())
            self._expect(")")
            return Exists(field)
        if self._accept("not"):
            self._expect("in")
            return Not(self._membership(left))
        return self._membership(left) if self._accept("in") else self._comparison(left)

    def _membership(self, left: Token) -> FilterNode:
        if not self._accept("("):
            field = self._field(self._take())
            return Comparison(field, "contains", self._value(left, field, "contains"))
        field = self._field(left)
        values = [self._value(self._take(), field, "=")]
        while self._accept(","):
            values.append(self._value(self._take(), field, "="))
        self._expect(")")
        return OneOf(field, tuple(values))

    def _comparison(self, left: Token) -> FilterNode:
        field = self._field(left)
        token = self._take()
        if token.kind not in ("op", "keyword") or token.raw not in _COMPARATORS:
            self._fail(token, tr("expected a comparison: = != < <= > >= in contains like"))
        op = cast(Comparator, "=" if token.raw == "==" else token.raw)
        value = self._value(self._take(), field, op)
        if op in ("=", "!=") and tuple(self.fields.get(field, ())) == ("list",):
            holds = Comparison(field, "contains", value)
            return holds if op == "=" else Not(holds)
        return Comparison(field, op, value)

    def _field(self, token: Token) -> str:
        if not token.name:
            self._fail(token, tr("expected the name of a field"))
        if self.strict:
            known_field(self.expression, token, self.fields)
        return token.name

    def _value(self, token: Token, field: str, op: Comparator) -> Scalar:
        value = value_of(self.expression, token)
        if field not in self.fields:
            return value
        try:
            return checked_value(self.expression, token, field, self.fields[field], op)
        except FilterError:
            if self.strict:
                raise
            return value
