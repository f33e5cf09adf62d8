"""How many tokens the chunks may take: the context window less everything else that goes into it."""

from __future__ import annotations

import operator

from .frozen import Frozen

_SHARE_DIGITS = 6  # a share is exact to a millionth of a token, so that 0.07 of 100 is 7 and not 7.000000000000001
_TERMS_SHOWN = 3


class SlotError(ValueError):
    """Nothing of the window is left for chunks: a fault of this request, while other `ValueError`s are faulty settings.

    >>> Slot(window=1_000, history=900, reserved_output=200)
    Traceback (most recent call last):
    chunkledger.packer.slot.SlotError: the slot would be -100 tokens: window 1000 is used up by history 900, ...
    """


def whole_number(name: str, value: object, *, at_least: int) -> int:
    """`value` as an `int`; every type with `__index__` will do (numpy's integers too), `bool` will not.

    Raises:
        ValueError: not a whole number, or below `at_least`; the message names the argument.

    >>> whole_number("history", 60, at_least=0)
    60
    """
    try:
        number = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or number < at_least:
        hint = "; give its .tokens" if isinstance(value, Slot) else ""
        raise ValueError(f"{name} is {value!r}: it must be a whole number of at least {at_least}{hint}")
    return number


class Slot(Frozen):
    """The tokens that chunks may take in one request, as a subtraction that can be shown.

    All fields are tokens, counted with the tokenizer that the ledger's rows were counted with.

    Attributes:
        window: the model's context window.
        system: the system prompt.
        tools: tool definitions.
        history: the turns of the conversation so far.
        question: the user's question.
        reserved_output: what the answer may take.
        framing: role markers and whatever text stands around the chunks.
        margin: held back for what can't be counted. An `int` is tokens; a `float` in [0, 1) is a share of the
            window, rounded up.
        cap: most tokens that the slot may have, however much is left; None is no cap.

    Raises:
        ValueError: a value that can't be; the message names it and says what would work.
        SlotError: nothing is left; the message names the largest terms.

    >>> Slot(window=128_000, system=900, history=6_000, reserved_output=2_000, margin=0.02, cap=6_000).tokens
    6000
    """

    window: int
    system: int
    tools: int
    history: int
    question: int
    reserved_output: int
    framing: int
    margin: int | float
    cap: int | None
    __slots__ = tuple(__annotations__)

    def __init__(
        self,
        *,
        window: int,
        system: int = 0,
        tools: int = 0,
        history: int = 0,
        question: int = 0,
        reserved_output: int = 0,
        framing: int = 0,
        margin: int | float = 0,
        cap: int | None = None,
    ) -> None:
        values = {
            "window": whole_number("window", window, at_least=1),
            "system": whole_number("system", system, at_least=0),
            "tools": whole_number("tools", tools, at_least=0),
            "history": whole_number("history", history, at_least=0),
            "question": whole_number("question", question, at_least=0),
            "reserved_output": whole_number("reserved_output", reserved_output, at_least=0),
            "framing": whole_number("framing", framing, at_least=0),
            "margin": _margin(margin),
            "cap": None if cap is None else whole_number("cap", cap, at_least=1),
        }
        self._set(values)
        if self.tokens <= 0:
            raise SlotError(_used_up(self.window, self._terms()))

    @property
    def tokens(self) -> int:
        """The size of the slot; always positive."""
        left = self._left()
        return left if self.cap is None else min(left, self.cap)

    def breakdown(self) -> list[tuple[str, int]]:
        """The subtraction as (name, tokens) rows, in the order in which it is done.

        `window`, then every term as a negative number (or 0), then `left`, their sum. Where the cap bites, `cap`
        follows, the negative number of tokens that it takes away from `left`. `slot` is last. So all rows but `left`
        and `slot` sum to `slot`.

        >>> for row in Slot(window=8_000, history=1_000, margin=0.02, cap=6_000).breakdown():
        ...     print(*row)
        window 8000
        reserved_output 0
        system 0
        tools 0
        history -1000
        question 0
        framing 0
        margin -160
        left 6840
        cap -840
        slot 6000
        """
        left, tokens = self._left(), self.tokens
        rows = [("window", self.window), *((name, -term) for name, term in self._terms()), ("left", left)]
        if tokens < left:
            rows.append(("cap", tokens - left))
        return [*rows, ("slot", tokens)]

    def _left(self) -> int:
        return self.window - sum(term for _, term in self._terms())

    def _terms(self) -> list[tuple[str, int]]:
        margin = self.margin
        return [
            ("reserved_output", self.reserved_output),
            ("system", self.system),
            ("tools", self.tools),
            ("history", self.history),
            ("question", self.question),
            ("framing", self.framing),
            ("margin", _rounded_up(self.window * margin) if isinstance(margin, float) else margin),
        ]


def ceiling(budget: int, chunk_tokens: int, overhead_tokens: int = 0) -> int:
    """How many chunks of `chunk_tokens` fit into `budget` at most, each with `overhead_tokens` around it.

    Raises:
        ValueError: a value that can't be; the message names it and says what would work.

    >>> ceiling(12_000, 800, 50)
    14
    """
    budget = whole_number("budget", budget, at_least=0)
    chunk_tokens = whole_number("chunk_tokens", chunk_tokens, at_least=1)
    return budget // (chunk_tokens + whole_number("overhead_tokens", overhead_tokens, at_least=0))


def _margin(margin: int | float) -> int | float:
    if hasattr(margin, "__float__") and not hasattr(margin, "__index__"):
        margin = float(margin)  # numpy's, Decimal and Fraction are shares too
    if not isinstance(margin, float):
        return whole_number("margin", margin, at_least=0)
    if not 0 <= margin < 1:
        raise ValueError(
            f"margin is {margin!r}: a float is a share of the window, at least 0 and below 1; give tokens as an int"
        )
    return margin


def _rounded_up(tokens: float) -> int:
    # By hand, because importing math takes as long as importing a module of ours.
    return int(-(-round(tokens, _SHARE_DIGITS) // 1))


def _used_up(window: int, terms: list[tuple[str, int]]) -> str:
    left = window - sum(term for _, term in terms)
    largest = sorted(terms, key=lambda row: -row[1])[:_TERMS_SHOWN]
    named = ", ".join(f"{name} {term}" for name, term in largest if term)
    return (
        f"the slot would be {left} tokens: window {window} is used up by {named}; shorten these or take a larger window"
    )
