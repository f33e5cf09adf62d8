"""Sentences and graphemes inside a block."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkledger import Settings, chunk_text
from chunkledger.structure import sentences
from chunkledger.structure.languages import language_of
from chunkledger.structure.sentences import sentence_spans
from markdown_texts import paragraphs


@given(paragraphs | st.text(max_size=80))
def test_sentences_cover_the_text_in_order(text: str) -> None:
    """Sentences ascend, do not overlap, have no blanks around them, and leave out nothing but blanks."""
    spans = sentence_spans(text)
    assert spans == sorted(spans)
    at, between = 0, ""
    for start, end in spans:
        assert at <= start < end
        assert text[start:end] == text[start:end].strip()
        between += text[at:start]
        at = end
    assert (between + text[at:]).strip() == ""


@pytest.mark.parametrize(
    "sentences",
    [
        ["Dr. Ito left.", "It rained."],
        ["It costs 3.50 kr.", "Nobody paid."],
        ["See e.g. the U.S. rates.", "They fell!", "Why?", "Nobody knows."],
        ["She said: “Go.”", "He went."],
        ["(a) The rates are these.", "They rose.", "Nobody paid."],
        [
            "There are two.",
            "(1) The first is here.",
            "It rained.",
            "(2) The second is there.",
            "It snowed.",
            "So be it.",
        ],
        ["1) Take the form.", "Sign it.", "2) Send it.", "Wait."],
        ["We asked them (and by letter).", "(iv) They did not answer.", "So we went (see below)."],
        ["Take the form home.", "2. Nobody else may sign it.", "3. Send it."],
        ["See sec. 2.", "The figures in it are old.", "We came on Dec. 5.", "They ate."],
        ["We grew E. coli as Ito et al. 1995 did.", "B. subtilis died."],
        ["Write to help@example.org or see https://x.org/v1.2.3/a.b?c=d today.", "Thanks."],
        ["Это первое предложение.", "А это второе!"],
        ["Αυτή είναι η πρώτη.", "Αυτή η δεύτερη."],
        ["هذا سطر أول.", "هل هذا سؤال؟", "نعم."],
        ["यह पहला वाक्य है।", "यह दूसरा है।"],
    ],
)
def test_sentences_of_scripts_with_spaces(sentences: list[str]) -> None:
    """Abbreviations, numbers, addresses and quotes end no sentence; the marks of each script do."""
    text = " ".join(sentences)
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


@pytest.mark.parametrize(
    "sentences",
    [["これは一文です。", "次の文です！", "三つ目ですか？"], ["分词器很快。", "它切分文本！", "真的吗？"]],
)
def test_sentences_of_scripts_without_spaces(sentences: list[str]) -> None:
    """Full-width stops end a sentence without a space behind them."""
    text = "".join(sentences)
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


def test_blank_text_has_no_sentences() -> None:
    """Nothing, and blanks of any kind, hold no sentence."""
    assert [sentence_spans(text) for text in ("", " \n\t", "\u3000\u00a0")] == [[], [], []]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Plain words.", "en"),
        ("", "en"),
        ("分词器把文本切成词元。", "zh"),
        ("漢字とかな。", "ja"),
        ("Токены.", "ru"),
        ("مرحبا", "ar"),
        ("नमस्ते", "hi"),
        ("Γειά", "el"),
        ("สวัสดี", "th"),
        ("The word is токен in a long English sentence about many other things.", "en"),
    ],
)
def test_the_language_follows_the_script(text: str, language: str) -> None:
    """A script that is a tenth of the text decides; a single foreign word does not."""
    assert language_of(text) == language


def test_long_text_is_split_as_its_beginning_is() -> None:
    """Windows do not show: sentences of a text of many windows are those of its parts."""
    sentence = "Dr. Ito read 3.5 V at No. 2, i.e. too little. "
    count = 1_000
    spans = [(place * len(sentence), (place + 1) * len(sentence) - 1) for place in range(count)]
    assert sentence_spans(sentence * count) == spans


@pytest.mark.parametrize("text", ["x" * 100_000, "word " * 20_000, " " * 50_000 + "End." + " " * 50_000])
def test_text_without_sentence_ends_is_one_sentence(text: str) -> None:
    """However long it is, no end is made up at the border of a window."""
    start = len(text) - len(text.lstrip())
    assert sentence_spans(text) == [(start, len(text.rstrip()))]


@pytest.mark.parametrize("unit", ["中文。", "One two. ", "word ", "x"])
def test_work_grows_with_the_length_and_not_with_its_square(monkeypatch: pytest.MonkeyPatch, unit: str) -> None:
    """sentencex, whose time grows with the square of a text's length, never sees a long text."""
    lengths: list[int] = []
    right = sentences.get_sentence_boundaries

    def noted(language: str, text: str) -> Any:  # noqa: ANN401 (sentencex ships no types)
        lengths.append(len(text))
        return right(language, text)

    monkeypatch.setattr(sentences, "get_sentence_boundaries", noted)
    text = unit * (200_000 // len(unit))
    sentence_spans(text)
    assert max(lengths) <= 32_768
    assert sum(lengths) <= 2 * len(text) + 32_768


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("The dot `.` matches all. Really.", ["The dot `.` matches all.", "Really."]),
        ("Ends in `code?` The next one.", ["Ends in `code?` The next one."]),
        ("Version 2. is out. Take it.", ["Version 2. is out.", "Take it."]),
        ("See Eq. 4 and approx. 10 more. Done.", ["See Eq. 4 and approx. 10 more.", "Done."]),
        ("3. Hold the lid. Turn it.", ["3. Hold the lid.", "Turn it."]),
        (
            "the loan was amended in 2003. the rate, e.g. 13 %, was kept (see note 5.). it ends in 2009.",
            [
                "the loan was amended in 2003.",
                "the rate, e.g. 13 %, was kept (see note 5.).",
                "it ends in 2009.",
            ],
        ),
        (
            "Use io.TextIOWrapper. See https://a.b/?Q=1!Foo too.",
            ["Use io.TextIOWrapper.", "See https://a.b/?Q=1!Foo too."],
        ),
        ("thanks to SemVer!) and so. **It is.** The end.", ["thanks to SemVer!) and so.", "**It is.** The end."]),
        ("In 2019. The rate fell.", ["In 2019.", "The rate fell."]),
        ("Er kam. Ärger gab es. und so weiter.", ["Er kam.", "Ärger gab es. und so weiter."]),
        ("\u732b\u306f\u597d\u304d\u3002\u72ac\u3082\u3002", ["\u732b\u306f\u597d\u304d\u3002", "\u72ac\u3082\u3002"]),
    ],
)
def test_what_only_looks_like_an_end_is_none(text: str, sentences: list[str]) -> None:
    """A mark in code, a lone numeral, an abbreviation before a figure, and a lower-case letter go on."""
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


@pytest.mark.parametrize(
    "text",
    [
        "Rules are in (a) the law, (b) the contract.",
        "It ends here. (b) or there, nobody knows.",
        "A. The first choice is none.",
        "J. Biol. Chem. 271 has the figures.",
    ],
)
def test_enumerations_and_abbreviations_are_not_parted_from_what_they_belong_to(text: str) -> None:
    """What may be the end of a sentence, but more likely is none, is not cut."""
    assert sentence_spans(text) == [(0, len(text))]


LONG = "It rained on the first day, and on the second, and nobody of us had thought of taking a coat along."


@pytest.mark.parametrize(
    "sentences",
    [
        ["He said: \u201cWe went.", LONG, LONG, "So we came back.\u201d", "Nobody laughed."],
        ["[{'role': 'user', 'content': 'Why?", LONG, LONG, "Tell me.'},", "{'text': \"Well.", LONG, f'{LONG}"}}]'],
        ["We went (by train.", LONG, f"{LONG})", "Nobody laughed."],
        [f"{LONG[:-1]}: {LONG}", f"(The rest. {LONG} That is short.)"],
    ],
)
def test_long_quotations_and_brackets_end_sentences_too(sentences: list[str]) -> None:
    """What is short stays whole; a long one may be cut, and what opens it stays with what it opens."""
    text = " ".join(sentences)
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


def test_short_quotations_and_brackets_stay_whole() -> None:
    """Two short questions in one pair of marks are not parted."""
    text = 'She asked: "Why? Who knows?" So we left (at ten. Or so).'
    assert [text[start:end] for start, end in sentence_spans(text)] == [text[:28], text[29:]]


@pytest.mark.parametrize(
    "sentences",
    [
        [r"Why so?\n", "Nobody knows."],
        [r"It rained.\n\n", "2. The second day was dry."],
        [r"Places to see\n\n", "the tower, the bridge."],
        [r"\"It rained.\"\r\n\r\n", "Then it did not."],
        [r"**Days:**\n* Monday.\n", "* Friday."],
        [r"The days are these:\n\n1. Monday.\n", "2. Friday."],
        [r"Use re.sub(r'a.\n', '', text) and print('Hi.\n\n') for it."],
        [r'{"a": "It rained. Then it did not.\n\n"}'],
        [r"雨が降った。\n", "次の日は晴れた。"],
        ['{"role": "user", "content": "Why?"},', '{"role": "assistant", "content": "Nobody knows."}'],
        [r"Rows\nand columns go on, as do \nu and {1}, {2}."],
        [r"The class [.\n] and C:\docs\new.txt are one."],
    ],
)
def test_escaped_line_ends_are_line_ends(sentences: list[str]) -> None:
    """Text that was written as a string of JSON has its paragraphs in one line; no other backslash parts anything."""
    between = "" if "\\n" in sentences[0] else " "
    text = between.join(sentences)
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        (
            "de",
            [
                "Das war am 3. Mai und war lang.",
                "Es kostet 3,5 Mio. Euro.",
                "Das gilt gem. § 5 auch hier.",
            ],
        ),
        ("es", ["La Dra. López y el Dr. Ruiz no están.", "Vive en la Av. Libertador, y está bien por eso."]),
        ("fr", ["M. Dupont est arrivé hier pour les voir.", "Voir p. 12 et fig. 3 pour plus de détails."]),
        ("it", ["Il sig. Rossi è arrivato ieri per la cena.", "Il Dott. Bianchi disse che non è vero."]),
        ("pt", ["A Dra. Souza disse que não.", "O Sr. Silva chegou com uma mala para você."]),
        ("fi", ["Hän tuli esim. Helsinkiin, ja se oli tämä.", "Tämä on pitkä, että se ei ole lyhyt."]),
        ("km", ["នេះជាប្រយោគខ្មែរ។", "គាត់ទៅផ្សារ។"]),
        ("ja", ["「今日は良い天気ですね。」と彼は言った。", "彼は「はい。」と答えた。", "「はい。」", "すごい！"]),
        ("ru", ["Он сказал: «Привет!» — и ушёл домой.", "И. И. Иванов жил давно."]),
        ("en", ["The talk is at 9 a.m. Friday, in room 3.", "The Ph.D. Student has Phys. Rev. Lett. 45 of it."]),
        ("en", ["See Proc. Natl. Acad. Sci. USA for all.", "The max. Value is 5.", "It was vol. II of the set."]),
    ],
)
def test_languages_are_told_by_script_and_by_their_words(language: str, sentences: list[str]) -> None:
    """Each has its abbreviations, ordinals and stops, though nobody says which one it is."""
    text = ("" if language in ("km", "ja") else " ").join(sentences)
    assert language_of(text) == language
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


def test_language_that_is_given_holds() -> None:
    """Too short a text to tell is split by the rules that were asked for."""
    text = "Am 3. Mai. Am 4. Juni."
    assert [text[start:end] for start, end in sentence_spans(text, "de")] == ["Am 3. Mai.", "Am 4. Juni."]
    assert len(sentence_spans(text)) == 3
    made = Settings(encoding="cl100k_base", max_tokens=8, language="de", heading_context=False)
    assert [chunk.text for chunk in chunk_text(text, made, doc_id="a")] == ["Am 3. Mai.", "Am 4. Juni."]


@pytest.mark.parametrize("word", ["ja", "on", "se", "der", "la", "och"])
def test_a_few_foreign_words_are_no_language(word: str) -> None:
    """English with a name in it, code, or a list of names stays English."""
    assert language_of(f"Run {word} with that, and it is {word} for this.") == "en"
    assert language_of(f"{word}_1 = {word}") == "en"


@pytest.mark.parametrize(
    "text",
    [
        "Write Sen. Kay at kay@x.com, St. John at john@x.com, or Mrs. Wu at wu@x.com.",
        "Mr. Smith flew Los Angeles to Los Alamos, then Los Gatos to Las Vegas with Gov. Brown.",
        "Dr. Smith (Доктор Смит, хирург) met Mrs. Wu at St. John with Prof. Kay and his aunt.",
    ],
)
def test_names_and_addresses_are_no_other_language(text: str) -> None:
    """What is there again and again, and a name in another script, does not make English another language."""
    assert language_of(text) == "en"
    assert sentence_spans(text) == [(0, len(text))]


def test_an_english_name_does_not_make_german_english() -> None:
    """One article in a name is outvoted."""
    text = "Die Band The Who hat am 3. Mai in Bern gespielt und wird auch am 5. August nicht von dort sein."
    assert language_of(text) == "de"
    assert sentence_spans(text) == [(0, len(text))]
