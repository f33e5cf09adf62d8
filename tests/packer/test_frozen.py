"""The values that packing gives do not change, and can be compared, copied and shown."""

from __future__ import annotations

import copy
import pickle

import pytest

from chunkledger.packer import Packed, Slot, pack
from packer.builders import rows

VALUES = [Slot(window=8_000, cap=100), pack(rows(20, 30), 100, encoding="o200k_base")]


@pytest.mark.parametrize("value", [*VALUES, VALUES[1].log], ids=["slot", "packed", "log"])  # type: ignore[union-attr]
def test_values_do_not_change(value: object) -> None:
    """No field can be set or deleted, so that a pack is still what was logged."""
    name = next(iter(type(value).__annotations__))
    with pytest.raises(AttributeError, match=f"does not change; {name} can't be set"):
        setattr(value, name, 1)
    with pytest.raises(AttributeError, match=f"does not change; {name} can't be deleted"):
        delattr(value, name)


@pytest.mark.parametrize("value", VALUES, ids=["slot", "packed"])
def test_copies_are_equal(value: object) -> None:
    """A copy, a deep copy and a pickled one are equal to what they were made from."""
    copies = [copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))]  # noqa: S301 (our own bytes)
    assert copies == [value] * 3


def test_values_with_other_fields_are_not_equal() -> None:
    """Equal are values of one type with equal fields."""
    assert Slot(window=8_000) == Slot(window=8_000)
    assert hash(Slot(window=8_000)) == hash(Slot(window=8_000))
    assert Slot(window=8_000) != Slot(window=8_000, cap=100)
    assert Slot(window=8_000) != (8_000, 0, 0, 0, 0, 0, 0, 0, None)


def test_fields_are_shown_in_order() -> None:
    """The representation is the call that makes the value."""
    assert repr(Slot(window=9, cap=5)) == (
        "Slot(window=9, system=0, tools=0, history=0, question=0, reserved_output=0, framing=0, margin=0, cap=5)"
    )


def test_packed_is_no_tuple() -> None:
    """A pack can't be taken for the list of its blocks."""
    packed = pack(rows(20), 100, encoding="o200k_base")
    assert isinstance(packed, Packed)
    with pytest.raises(TypeError):
        len(packed)  # type: ignore[arg-type]
