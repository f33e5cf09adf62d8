"""The reference tokenizers, built offline: ranks from toktok's tables, proven by their fingerprint.

tiktoken downloads its vocabularies at first use. A nightly job must not, so `tiktoken.Encoding` is built here from
the tables that ship inside toktok. Written out as the lines that OpenAI publishes, they must have the fingerprint
that tiktoken itself expects of the download; patterns and special tokens are constants, tested against tiktoken's.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache

import tiktoken

from chunkledger.counting.fast import token_bytes_by_rank
from chunkledger.errors import VocabularyError

_O200K_LETTERS = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_O200K_SMALL = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_O200K_PATTERN = "|".join(
    [
        rf"[^\r\n\p{{L}}\p{{N}}]?{_O200K_LETTERS}*{_O200K_SMALL}+{_CONTRACTION}",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_O200K_LETTERS}+{_O200K_SMALL}*{_CONTRACTION}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
_CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|"
    r"\s+(?!\S)|\s"
)
_HARMONY_NAMED = {
    "<|startoftext|>": 199998,
    "<|endoftext|>": 199999,
    "<|reserved_200000|>": 200000,
    "<|reserved_200001|>": 200001,
    "<|return|>": 200002,
    "<|constrain|>": 200003,
    "<|reserved_200004|>": 200004,
    "<|channel|>": 200005,
    "<|start|>": 200006,
    "<|end|>": 200007,
    "<|message|>": 200008,
    "<|reserved_200009|>": 200009,
    "<|reserved_200010|>": 200010,
    "<|reserved_200011|>": 200011,
    "<|call|>": 200012,
}
_CL100K_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_O200K_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What makes an encoding what it is.

    Attributes:
        ranks_sha256: of the published rank file: a line `base64 rank` per token. The same value stands in
            `tiktoken_ext.openai_public`.
        pattern: the split pattern.
        special_tokens: by text. Documents are never encoded with them (`encode_ordinary`).
    """

    ranks_sha256: str
    pattern: str
    special_tokens: dict[str, int]

    def sha256(self) -> str:
        """Fingerprint of ranks, pattern and special tokens, hexadecimal."""
        whole = [self.ranks_sha256, self.pattern, sorted(self.special_tokens.items())]
        return hashlib.sha256(json.dumps(whole).encode()).hexdigest()


VOCABULARIES = {
    "o200k_base": Vocabulary(_O200K_SHA256, _O200K_PATTERN, {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}),
    "cl100k_base": Vocabulary(
        _CL100K_SHA256,
        _CL100K_PATTERN,
        {
            "<|endoftext|>": 100257,
            "<|fim_prefix|>": 100258,
            "<|fim_middle|>": 100259,
            "<|fim_suffix|>": 100260,
            "<|endofprompt|>": 100276,
        },
    ),
    "o200k_harmony": Vocabulary(
        _O200K_SHA256,
        _O200K_PATTERN,
        {"<|endofprompt|>": 200018}
        | _HARMONY_NAMED
        | {f"<|reserved_{number}|>": number for number in range(200013, 201088)},
    ),
}
"""The encodings that are counted exactly."""


@lru_cache(maxsize=len(VOCABULARIES))
def reference_encoding(name: str) -> tiktoken.Encoding:
    """Tiktoken's own encoding, built without a download.

    Args:
        name: one of `VOCABULARIES`.

    Raises:
        VocabularyError: the tables do not have the published fingerprint.
    """
    vocabulary = VOCABULARIES[name]
    tokens = token_bytes_by_rank(name)
    digest = hashlib.sha256()
    for rank, token in enumerate(tokens):
        digest.update(base64.b64encode(token) + b" %d\n" % rank)
    found = digest.hexdigest()
    if found != vocabulary.ranks_sha256:
        raise VocabularyError(
            f"the ranks of {name} have the fingerprint {found[:12]}…, not {vocabulary.ranks_sha256[:12]}…; "
            "install a toktok-rs release within the range that this package declares"
        )
    return tiktoken.Encoding(
        name,
        pat_str=vocabulary.pattern,
        mergeable_ranks={token: rank for rank, token in enumerate(tokens)},
        special_tokens=vocabulary.special_tokens,
    )
