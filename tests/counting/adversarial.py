"""The strings of the tokenizers' self-test, and the file that holds them with tiktoken's counts.

`python tests/counting/adversarial.py` writes the file anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import chunkledger.counting.self_test
from chunkledger.counting.reference import reference_counts
from chunkledger.counting.vocabulary import VOCABULARIES

STORED = Path(chunkledger.counting.self_test.__file__).with_name("self_test.json")


def adversarial_texts() -> list[str]:
    """Strings at which tokenizers go wrong: blanks, digits, contractions, scripts, marks, special tokens, seams."""
    return list(dict.fromkeys(_texts()))


def _texts() -> Iterator[str]:
    blanks = [
        " ",
        "  ",
        "   ",
        "\t",
        " \t ",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        " \n ",
        "\u00a0",
        "\u3000",
        "\u2028",
        "\x0b",
        "\x85",
    ]
    for blank in blanks:
        yield from (
            blank,
            f"a{blank}b",
            f"a.{blank}b",
            f"{blank}a",
            f"a{blank}",
            f"a{blank}/b",
            f"){blank}- x",
            blank * 9,
        )
    for number in ("1", "12", "123", "1234", "12345678", "3.14", "1,234,567", "٣٤٥", "²³", "0x1F", "1e-9"):
        yield from (number, f" {number}", f"a{number}b", f"${number}.")
    for word in ("don't", "DON'T", "we'LL've", "I'm", "'S", "x's's", "o'clock", "'tis", "it'd", "ſ's"):
        yield from (word, f" {word}", f"({word})")
    for mark in (
        ".",
        "...",
        "?!",
        "```",
        "~~~",
        "---",
        "***",
        "===",
        "|---|",
        "</",
        "/>",
        "//",
        "\\",
        "{}",
        "();",
        "):\n",
        ".\n\n",
        ".\n/",
    ):
        yield from (mark, f"{mark}a", f"a{mark}", f" {mark}", f"{mark}\n", f"{mark}\n\n  x")
    for token in (
        "<|endoftext|>",
        "<|fim_prefix|>",
        "<|im_start|>",
        "<|start|>",
        "<|endofprompt|>",
        "<|reserved_200017|>",
    ):
        yield from (token, f"a{token}b", token * 3)
    yield from (
        "",
        "a",
        "A",
        "É",
        "e\u0301",
        "ﬁ",
        "ß",
        "İi",
        "𝔘𝔫𝔦",
        "naïve café",
        "CamelCaseWords",
        "snake_case_words",
        "UPPER lower",
        "Größe über Maß",
        "ąęśćżź",
        "Привет, мир!",
        "Γειά σου Κόσμε",
        "שלום עולם",
        "مرحبا بالعالم",
        "नमस्ते दुनिया",
        "สวัสดีชาวโลก",
        "你好，世界。",
        "こんにちは、世界。",
        "カタカナ",
        "한국어 문장입니다.",
        "ქართული",
        "አማርኛ",
        "ភាសាខ្មែរ",
        "🙂",
        "🙂🙃",
        "👩‍👩‍👧‍👦",
        "🇳🇴🇯🇵",
        "👍🏽",
        "☕️",
        "\u202ertl\u202c",
        "\u200b",
        "a\u200db",
        "\ufffd",
        "\ufeff",
        "x" * 100,
        "x" * 1000,
        "ab" * 300,
        " " * 300,
        "\n" * 300,
        "=" * 300,
        "a b " * 100,
        "é" * 200,
        "漢" * 200,
        "🙂" * 100,
        '<chunk n="1" source="a.md">\n',
        "</chunk>\n",
        "### [1] a.md: B\n",
        "* * *\n",
        "[truncated: the rest of this chunk did not fit]\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "def f(x):\n    return x\n\n\nclass A:\n\tpass\n",
        "https://example.org/a/b?c=d&e=%20f#g",
        "user@example.org",
        "C:\\path\\to\\file",
        "2026-11-30T12:00:00Z",
        "SGVsbG8gd29ybGQ=" * 20,
    )


def stored_content() -> str:
    """The file as it should be: the strings, and tiktoken's counts of them in every encoding."""
    texts = adversarial_texts()
    counts = {name: reference_counts(texts, name).tolist() for name in VOCABULARIES}
    return json.dumps({"texts": texts, "counts": counts}, ensure_ascii=True, indent=0) + "\n"


if __name__ == "__main__":
    STORED.write_text(stored_content(), "utf-8")
