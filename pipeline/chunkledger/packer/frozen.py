"""Values that don't change: what frozen dataclasses are, at a tenth of the time that those add to an import."""

from __future__ import annotations

from collections.abc import Mapping

TYPE_CHECKING = False  # importing typing takes longer than importing the packer
if TYPE_CHECKING:
    from typing import NoReturn


class Frozen:
    """A value with fixed fields, those that its class annotates, in their order; compared, shown and copied by them.

    Such a class annotates its fields, makes `__slots__` of the annotations and hands the values to `_set`.
    """

    __slots__: tuple[str, ...] = ()

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of the fields, in order."""
        return tuple(cls.__annotations__)

    def _set(self, values: Mapping[str, object]) -> None:
        put = object.__setattr__
        for name in self.__slots__:
            put(self, name, values[name])

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} does not change; {name} can't be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} does not change; {name} can't be deleted")

    def _values(self) -> tuple[object, ...]:
        return tuple([getattr(self, name) for name in self.__annotations__])

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())  # as of a tuple: where a field has none, neither has this

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in zip(self.names(), self._values(), strict=True))
        return f"{type(self).__name__}({shown})"

    def __reduce__(self) -> tuple[object, ...]:
        return _made, (type(self), self._values())


def _made(kind: type[Frozen], values: tuple[object, ...]) -> Frozen:
    made = object.__new__(kind)
    made._set(dict(zip(kind.names(), values, strict=True)))
    return made
