"""Immutable objects, so that a certificate stays true of the object it certifies."""

from __future__ import annotations

from typing import Any, NoReturn


class Frozen:
    """Base class that refuses to set or delete attributes; constructors use ``_set``."""

    __slots__ = ()

    def _set(self, **attributes: object) -> None:
        """Set attributes while the object is being built."""
        for name, value in attributes.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot change: build another one instead of setting {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot change: {name!r} stays")

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        # The state of an object with slots, as pickle and copy pass it: (no __dict__, the slots).
        self._set(**state[1])
