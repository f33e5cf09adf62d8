"""Text -> the language whose rules of sentences it follows: by its script, in Latin letters by its commonest words."""

from __future__ import annotations

import re
from collections import Counter

_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("zh", re.compile("[\u3400-\u9fff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
    ("km", re.compile("[\u1780-\u17ff]")),
)
_SHARE = 0.1
"""A script counts as the text's own from this share of the characters; Latin words stand in most technical prose."""
_SAMPLE = 2000
_ENGLISH = re.compile(r"\b[Tt]he\b")
_WORDS = {
    "de": "der und nicht ist für auf dem eine einer oder wird sich auch von mit das werden bei",
    "fr": "les des est et une dans pour pas sur qui avec sont cette aux leur",
    "es": "los las por para del como más pero está y el una este esta son",
    "it": "il che di è non della sono gli dei nel alla anche più una per",
    "pt": "os não uma com são mais pelo ao um em é para isso você",
    "nl": "het een van niet voor zijn wordt ook naar op met deze maar",
    "pl": "się nie jest że oraz dla przez są tym jako",
    "cs": "je se že není jako ale jsou pro nebo které",
    "fi": "ja ei että oli hän tai kun ovat sekä tämä",
    "sv": "och att det som på är inte för av den",
    "da": "og det er ikke af til på som den der",
    "hu": "az és hogy nem egy vagy ez is meg",
    "tr": "ve bir bu için ile olarak daha çok gibi",
    "ro": "și în este pentru cu sunt nu din care",
    "en": "the of and that with is are this for from it was by",
}
"""Words that are in nearly every paragraph of a language; several have the same one, and the sum decides."""
_LANGUAGES: dict[str, list[str]] = {}
for _language, _words in _WORDS.items():
    for _word in _words.split():
        _LANGUAGES.setdefault(_word, []).append(_language)
_LETTERS = re.compile(r"[^\W\d_]+")
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
        for language, letters in _SCRIPTS:
            if len(letters.findall(sample)) > _SHARE * len(sample):
                return language
    if _ENGLISH.search(sample):
        return "en"
    found = Counter(language for word in _LETTERS.findall(sample.lower()) for language in _LANGUAGES.get(word, ()))
    # Of two with the same sum the first by name, so that the choice does not depend on the order of words.
    language, count = min(found.items(), key=lambda item: (-item[1], item[0]), default=("en", 0))
    return language if count >= _LEAST_WORDS and count > found["en"] else "en"
