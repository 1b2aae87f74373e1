"""What kind of answer a question asks for: a date after "when", a number after "how many"."""

from __future__ import annotations

import re
from typing import Final

from workbench.text.words import fold

_QUANTITY: Final = re.compile(r"\bhow (?:many|much|long|old|far|tall|big|high|large|often)\b|\bcuant[oa]s?\b")
_MOMENT: Final = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|time)\b|\bcuando\b|\bque (?:ano|fecha|dia|mes|hora)\b"
)
_NUMBER: Final = re.compile(
    r"""\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|hundred|
    thousand|million|half|dozen|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|veinte|treinta|cuarenta|
    cincuenta|sesenta|cien|cientos?|mil|millon|millones|medi[oa]|docena)\b""",
    re.VERBOSE,
)
_DATE: Final = re.compile(
    r"""\b\d{4}\b|\b\d{1,2}[:.]\d\d\b|\bcentury\b|\bsiglo\b|\b(?:january|february|march|april|may|june|july|august|
    september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|enero|febrero|marzo|
    abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|lunes|martes|miercoles|jueves|viernes|sabado|
    domingo)s?\b""",
    re.VERBOSE,
)

# Words that ask, and name nothing that a source would speak of; folded.
_ASKING: Final = frozenset(
    """long often far old tall big kind sort type mean means called happen happens tell know say says need want please
    may might puedo podemos podria debe deben tipo clase significa llama pasa saber decir dime quiero necesito favor
    """.split()
)


def expected(question: str) -> re.Pattern[str] | None:
    """What a folded text that answers has in it: a number, a date or time; None when any text may answer."""
    folded = fold(question)
    return _NUMBER if _QUANTITY.search(folded) else _DATE if _MOMENT.search(folded) else None


def is_asking(word: str) -> bool:
    """Whether ``word`` only asks, beyond the stopwords: "long" of "how long", "puedo"."""
    return fold(word) in _ASKING
