"""Text -> the language whose rules of sentences it follows: by its script, in Latin letters by its commonest words."""

from __future__ import annotations

import re
from collections import Counter

_SCRIPTS = (
    ("ja", 0.1, re.compile("[\u3040-\u30ff]")),
    ("zh", 0.1, re.compile("[\u3400-\u9fff]")),
    ("ru", 0.25, re.compile("[\u0400-\u04ff]")),
    ("ar", 0.1, re.compile("[\u0600-\u06ff]")),
    ("hi", 0.1, re.compile("[\u0900-\u097f]")),
    ("el", 0.25, re.compile("[\u0370-\u03ff]")),
    ("th", 0.1, re.compile("[\u0e00-\u0e7f]")),
    ("km", 0.1, re.compile("[\u1780-\u17ff]")),
)
"""Language, the share of the characters from which its script is the text's own, and its letters.

Latin words stand in most technical prose; in words of as many letters, names alone make a tenth of a text."""
_SAMPLE = 2000
_ENGLISH = re.compile(r"\b[Tt]he\b")
_WORDS = {
    "de": "der und nicht ist für auf dem eine einer oder wird sich auch von mit das werden bei",
    "fr": "les des est et une dans pour pas sur qui avec sont cette aux leur que la de le il du",
    "es": "los las por para del como más pero está y el una este esta son que en la de se al con",
    "it": "il che di è la le non della sono gli dei nel alla anche più una per",
    "pt": "os não uma que de se do da são mais pelo ao um em é para isso você",
    "nl": "het een van niet voor zijn wordt ook naar op met deze maar",
    "pl": "się nie jest że oraz dla przez są tym jako",
    "cs": "je se že není jako ale jsou pro nebo které",
    "fi": "ja on ei että oli hän tai kun ovat sekä tämä",
    "sv": "och att det som på är inte för av den",
    "da": "og det er ikke af til på som den der",
    "hu": "az és hogy nem egy vagy ez is meg",
    "tr": "ve bir bu için ile olarak daha çok gibi",
    "ro": "și în este pentru cu sunt nu din care",
    "en": "the on in to of and that with is are this for from it was by",
}
"""Words that are in nearly every paragraph of a language; several have the same one, and the sum decides."""
_LANGUAGES: dict[str, list[str]] = {}
for _language, _words in _WORDS.items():
    for _word in _words.split():
        _LANGUAGES.setdefault(_word, []).append(_language)
_LETTERS = re.compile(r"[^\W\d_]+")
_CHARACTERS_A_THE = 400
"""In English nearly every sentence has a "the"; one in a name makes no text English."""
_LEAST_WORDS = 3
"""So many of them must be there, and more than of English, for another language to be chosen."""


def language_of(text: str) -> str:
    """An ISO 639 code for the sentence rules; English where nothing speaks for another language.

    >>> language_of("田中の猫はかわいいですね。"), language_of("Plain words.")
    ('ja', 'en')
    >>> language_of("Das Gesetz ist am 3. Mai in Kraft getreten und gilt auch für alle.")
    'de'
    """
    sample = text[:_SAMPLE]
    if not sample.isascii():
        for language, share, letters in _SCRIPTS:
            if len(letters.findall(sample)) > share * len(sample):
                return language
    if (count := len(_ENGLISH.findall(sample))) > 1 and count * _CHARACTERS_A_THE > len(sample):
        return "en"
    # Each word once: a name that is there again and again is no language.
    words = set(_LETTERS.findall(sample.lower()))
    found = Counter(language for word in words for language in _LANGUAGES.get(word, ()))
    # Of two with the same sum the first by name, so that the choice does not depend on the order of words.
    language, count = min(found.items(), key=lambda item: (-item[1], item[0]), default=("en", 0))
    return language if count >= _LEAST_WORDS and count > found["en"] else "en"
