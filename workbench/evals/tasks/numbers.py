"""Numbers as people and models write them: thousands separators in English and Spanish, signs, units.

"1,234.5 kg", "1.234,5 kg", "1 234,5 kg" (with a narrow space) and "1234.5kg" are one quantity. "1.234" alone is two
numbers, depending on who wrote it: every reading is kept until the language tells.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

_NUMBER: Final = re.compile(
    r"""(?<![^\W_])(?<![\d.,])                      # not inside a word: E07, H2O
        (?P<before>[$€£]\s?)?
        (?P<sign>(?<![\w)])[-+\u2212])?
        (?P<after>[$€£]\s?)?
        (?P<digits>(?:\d(?:[\d.,'’\u00a0\u2009\u202f]*\d)?|\.\d+))
        (?P<exponent>[eE][-+]?\d{1,3}(?![\w]))?
        (?P<unit>\s?(?:por\s+ciento|per\s+cent|[%$€£]|°[CF]|[^\W\d_]+(?:/[^\W\d_]+)?[²³]?))?""",
    re.VERBOSE,
)
_LONGEST: Final = 20_000  # characters of an output that are looked at
_NOTATIONS: Final = {
    "en": re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d*)(?:\.\d+)?"),
    "es": re.compile(r"(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?"),
}
_PLAIN: Final = re.compile(r"\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3})?)(?![\d.,])")

# Unit → (what it measures, how many of the first unit of its kind it is).
_UNITS: Final[dict[str, tuple[str, float]]] = {
    name: (kind, factor)
    for kind, factor, names in (
        ("length", 1.0, "m metre metres meter meters metro metros"),
        ("length", 1e-3, "mm millimetres millimeters milímetros"),
        ("length", 1e-2, "cm centimetres centimeters centímetros"),
        ("length", 1e3, "km kilometre kilometres kilometer kilometers kilómetro kilómetros"),
        ("mass", 1.0, "g gram grams gramo gramos"),
        ("mass", 1e-3, "mg milligrams miligramos"),
        ("mass", 1e3, "kg kilo kilos kilogram kilograms kilogramo kilogramos"),
        ("mass", 1e6, "t tonne tonnes tonelada toneladas"),
        ("time", 1.0, "s sec second seconds segundo segundos"),
        ("time", 1e-3, "ms milliseconds milisegundos"),
        ("time", 60.0, "min minute minutes minuto minutos"),
        ("time", 3600.0, "h hour hours hora horas"),
        ("time", 86_400.0, "day days día días"),
        ("volume", 1.0, "l litre litres liter liters litro litros"),
        ("volume", 1e-3, "ml millilitres milliliters mililitros"),
        ("share", 1.0, "% percent"),
        ("euro", 1.0, "€ eur euro euros"),
        ("dollar", 1.0, "$ usd dollar dollars dólar dólares"),
        ("pound", 1.0, "£ gbp"),
        ("celsius", 1.0, "°c"),
        ("fahrenheit", 1.0, "°f"),
    )
    for name in names.split()
} | {"por ciento": ("share", 1.0), "per cent": ("share", 1.0)}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a text.

    Attributes:
        values: its possible readings, in the unit written.
        unit: a unit of ``_UNITS`` in lower case, "" for none that is known.
        text: as written.
    """

    values: tuple[float, ...]
    unit: str
    text: str

    @property
    def kind(self) -> str:
        """What its unit measures, "" without one."""
        return _UNITS[self.unit][0] if self.unit else ""


def quantities(text: str, language: str = "") -> list[Quantity]:
    """Every number of ``text``, in order; ``language`` ("en", "es") decides those that have two readings."""
    found = []
    for match in _NUMBER.finditer(text[:_LONGEST]):
        values = _readings(match["digits"], language)
        sign = -1.0 if match["sign"] in ("-", "\u2212") else 1.0
        scale = sign * float(f"1{match['exponent'] or ''}")
        unit = " ".join((match["unit"] or match["before"] or match["after"] or "").lower().split())
        known = unit if unit in _UNITS else ""
        numbers = tuple(value * scale for value in values if math.isfinite(value * scale))
        if numbers:
            found.append(Quantity(numbers, known, match[0].strip()))
    return found


def expected_quantity(text: str) -> Quantity | None:
    """The number that a case expects: as a program writes it where it can be ("1234.5"), else in either notation."""
    found = quantities(text)
    if not found:
        return None
    plain = _PLAIN.match(text)
    first = found[0]
    value = float(plain[1]) if plain else first.values[0]
    return Quantity((value,), first.unit, first.text) if math.isfinite(value) else None


def difference(said: Quantity, expected: Quantity) -> float | None:
    """How far the nearest reading is off, in the expected unit. None when the units measure different things.

    A number without a unit is taken to be in the expected one, which the question usually names.
    """
    if said.kind and expected.kind and said.kind != expected.kind:
        return None
    scale = _UNITS[said.unit][1] / _UNITS[expected.unit][1] if said.unit and expected.unit else 1.0
    return min(abs(value * scale - expected.values[0]) for value in said.values)


def _readings(digits: str, language: str) -> tuple[float, ...]:
    bare = re.sub(r"['’\u00a0\u2009\u202f]", "", digits)
    readings = {name: _value(bare, name) for name, form in _NOTATIONS.items() if form.fullmatch(bare)}
    if language in readings:
        return (readings[language],)
    return tuple(dict.fromkeys(readings.values()))


def _value(digits: str, notation: str) -> float:
    if notation == "es":
        digits = digits.replace(".", "").replace(",", ".")
    return float(digits.replace(",", ""))
