"""Suggestions for misspelled names in error messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest_name(given: object, known: Iterable[str]) -> str | None:
    """Return the known name most similar to ``given``, or None if none is close.

    >>> nearest_name("epsilom", ["domain", "epsilon"])
    'epsilon'
    """
    import difflib  # noqa: PLC0415 (only where something is wrong)

    near = difflib.get_close_matches(str(given), list(known), n=1)
    return near[0] if near else None


def unknown_name(what: str, given: str, known: Iterable[str]) -> str:
    """Message for an unknown name, with the known name most similar to it.

    >>> unknown_name("unknown key", "epsilom", ["domain", "epsilon"])
    "unknown key 'epsilom' (did you mean 'epsilon'?)"
    """
    near = nearest_name(given, known)
    return f"{what} {given!r}" + ("" if near is None else f" (did you mean {near!r}?)")
