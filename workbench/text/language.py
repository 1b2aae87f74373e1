"""Which language a text is in, without a model: function words that tell languages apart, and letters only some use.

A paragraph or a whole sentence is told reliably; a few content words are not, and then the answer is "".
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from math import sqrt
from operator import itemgetter
from typing import Final

from workbench.text.sentences import sentences

_LIKELIER: Final = ("en", "es")  # what the workbench's documents are mostly written in: they win when in doubt
_SAMPLE: Final = 4000  # characters looked at: more changes nothing
_LETTERS: Final = re.compile(r"(?<!\\)\b[^\W\d_]+\b")  # no part of a name like s_t, #F5F5F5 or \softmax
_ADDRESS: Final = re.compile(r"(?:https?://|www\.)\S+|\S+@\S+")
"""Its words are of no language: "ai" is no Italian in ``ai.google.dev``."""
_TELLING: Final = 8  # words that tell a sentence's language
_SHARE: Final = 0.1
"""Of as many words and more, those that tell: code, lists of works and pseudo-Latin have fewer, by chance."""
_SHARE_OF_ONE: Final = 0.13  # of a single sentence's, where chance is larger
_KANA: Final = re.compile(r"[\u3040-\u30ff\uff66-\uff9f]")
_HAN: Final = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_HANGUL: Final = re.compile(r"[\uac00-\ud7af\u1100-\u11ff]")

# Frequent function words, accents kept, because they tell: "más" is Spanish, "mais" Portuguese or French.
_WORDS: Final[dict[str, str]] = {
    "en": """the of and to in is was were are be been for on with as at by from that this these those which who whom
        whose what when where why how it its he she they his her their them we you your our not no or an a has have
        had do does did can could will would should may might must there than then also into after before about many
        much more most other such only between during while because if but all any each some under over""",
    "es": """el la los las un una uno unos unas de del y a al en que qué es fue era fueron ser son está están estaba por
        para con sin sobre su sus se lo le les como cómo cuál cuáles cuándo dónde quién quiénes cuánto cuánta cuántos
        cuántas más pero o no si sí ya muy también entre hasta desde durante este esta estos estas ese esa eso aquel
        cuando donde quien porque ha han había hay hacia según tras otros otras todo todos toda sido puede nombre tipo
        año años hizo tiene tuvo debe cada ante mediante""",
    "pt": """o a os as um uma uns umas de do da dos das e em no na nos nas que é foi era foram ser são está por para
        com sem sobre seu sua seus suas se lhe como qual quais quando onde quem quanto mais mas ou não sim já muito
        também entre até desde este esta isso aquele ao aos à às pelo pela pelos pelas tem têm ele ela eles você há
        num numa depois ainda""",
    "fr": """le la les un une des de du et à au aux en que qui est était sont être par pour avec sans sur son sa ses se
        il elle ils elles ce cette ces cet comme quel quelle quels où quand plus mais ou ne pas si dans nous vous leur
        leurs a ont été fait aussi entre depuis pendant dont très tout tous même après l d n s c qu""",
    "de": """der die das den dem des ein eine einer eines einem einen und in im zu zum zur ist war waren sind sein wird
        werden wurde von vom mit für auf an am aus bei nach über unter durch als wie wer was wann wo warum welche
        welcher welches nicht kein oder aber auch es er sie wir ihr ich sich hat haben hatte dass wenn noch nur mehr
        sehr zwischen""",
    "it": """il lo la i gli le un uno una di del dello della dei degli delle e in nel nella nei nelle che è era sono
        essere stato per con senza su sul sulla suo sua suoi si come quale quali quando dove chi perché quanto più ma
        o non anche tra fra questo questa questi quello al alla ai dal dalla da ha hanno ci ed molto ogni dopo""",
    "ca": """el la els les un una uns unes de del dels i a al als en que què és era són ser està per per amb sense sobre
        seu seva seus es ho li com quin quina quins quan on qui més però o no si ja molt també entre fins des aquest
        aquesta aquests aquell ha han hi pel pels perquè tots tot va van dins l d""",
}
_LETTER_EVIDENCE: Final[dict[str, str]] = {
    "ñ": "es", "¿": "es", "¡": "es", "ã": "pt", "õ": "pt", "ß": "de", "ä": "de", "œ": "fr", "ê": "fr pt", "ô": "fr pt",
    "ç": "fr pt ca", "ü": "de es ca", "ö": "de", "ì": "it", "ò": "it ca", "ù": "it fr", "è": "fr it ca", "î": "fr",
    "û": "fr", "â": "pt fr", "í": "es pt ca", "ú": "es pt ca", "á": "es pt", "·": "ca",
}  # fmt: skip


def _weights() -> dict[str, list[tuple[str, float]]]:
    """Word → (language, weight): a word that n languages share is worth 1/n² to each, so shared ones hardly count.

    A single letter is worth a third as much: it may be a variable or an initial.
    """
    owners: dict[str, list[str]] = {}
    for language, words in _WORDS.items():
        for word in set(words.split()):
            owners.setdefault(word, []).append(language)
    return {
        word: [(language, (1 if len(word) > 1 else 0.3) / len(langs) ** 2) for language in langs]
        for word, langs in owners.items()
    }


_WEIGHTS: Final = _weights()
_LETTER_WEIGHTS: Final = {
    letter: [(language, 0.5 / len(langs.split()) ** 2) for language in langs.split()]
    for letter, langs in _LETTER_EVIDENCE.items()
}


def detect(text: str) -> str:
    """ISO 639-1 code of the language ``text`` is mostly in (en, es, pt, fr, de, it, ca, zh, ja, ko); "" when unsure."""
    sample = _ADDRESS.sub(" ", text[:_SAMPLE].lower())
    words = _LETTERS.findall(sample)
    script = _asian_script(sample, sum(map(len, words)))
    if script:
        return script
    scores = _scores(sample, words)
    (best, first), (_, second) = sorted(scores.items(), key=itemgetter(1), reverse=True)[:2]
    sure = first >= 0.5 and first >= 1.15 * second and (len(words) > 1 or best in _LIKELIER)  # "Hi." is no Catalan
    return best if sure and (len(words) < _TELLING or _told_by(words, best) >= _SHARE * len(words)) else ""


def languages(text: str) -> dict[str, int]:
    """Characters of ``text`` by language, of those sentences whose language can be told: eight words and more."""
    found: Counter[str] = Counter()
    for start, end in sentences(text):
        sentence = _ADDRESS.sub(" ", text[start:end])
        words = _LETTERS.findall(sentence.lower())
        language = _asian_script(sentence, len(sentence))
        if not language and len(words) >= _TELLING:
            language = detect(sentence)
            language = language if _told_by(words, language) >= _SHARE_OF_ONE * len(words) else ""
        if language:
            found[language] += len(sentence)
    return dict(found)


def _asian_script(sample: str, letters: int) -> str:
    """zh, ja or ko when a third of all letters is theirs. Japanese mixes kana into Chinese characters."""
    kana, han, hangul = (len(pattern.findall(sample)) for pattern in (_KANA, _HAN, _HANGUL))
    if 3 * (kana + han + hangul) < max(letters, 1):
        return ""
    if hangul > kana + han:
        return "ko"
    return "ja" if 10 * kana > kana + han else "zh"


def _told_by(words: Sequence[str], language: str) -> int:
    """How many of the words are the language's."""
    return sum(any(known == language for known, _ in _WEIGHTS.get(word, ())) for word in words)


def _scores(sample: str, words: list[str]) -> dict[str, float]:
    scores: defaultdict[str, float] = defaultdict(float)
    counts = Counter(word for word in words if word in _WEIGHTS) + Counter(
        {a: sample.count(a) for a in _LETTER_WEIGHTS}
    )
    for evidence, seen in counts.items():
        for language, weight in (*_WEIGHTS.get(evidence, ()), *_LETTER_WEIGHTS.get(evidence, ())):
            scores[language] += weight * sqrt(seen)  # "Los Angeles" six times is hardly more Spanish than once
    for language in _LIKELIER:
        scores[language] *= 1.25
    return scores
