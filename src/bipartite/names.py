"""The name that was probably meant, for messages about one that is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest_name(given: object, known: Iterable[str]) -> str | None:
    """The known name that was probably meant, if one is near.

    >>> nearest_name("epsilom", ["domain", "epsilon"])
    'epsilon'
    """
    import difflib  # noqa: PLC0415 (only where something is wrong)

    near = difflib.get_close_matches(str(given), list(known), n=1)
    return near[0] if near else None


def unknown_name(what: str, given: str, known: Iterable[str]) -> str:
    """What to say of a name that is not known, with the one that was probably meant.

    >>> unknown_name("unknown key", "epsilom", ["domain", "epsilon"])
    "unknown key 'epsilom' (did you mean 'epsilon'?)"
    """
    near = nearest_name(given, known)
    return f"{what} {given!r}" + ("" if near is None else f" (did you mean {near!r}?)")
