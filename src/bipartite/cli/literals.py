"""A domain as it is written on the command line: one literal, one reader."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bipartite.domains import Cyclic, Domain, Integers, Interval
from bipartite.errors import InputError
from bipartite.locations import cities, grid, places
from bipartite.mechanisms.spec import load_spec
from bipartite.tables.domain_files import read_items, read_places, read_text

if TYPE_CHECKING:
    from bipartite.domains import Points
    from bipartite.mechanisms import Mechanism

ARE_PUBLIC: Final = "--places-are-public"
_CITIES: Final = "cities"
_TABLES: Final = {".csv", ".tsv", ".txt"}
_NUMBER: Final = r"[+-]?[0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,3})?"
_RANGE: Final = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:/([0-9]{{1,12}}))?")
_CIRCLE: Final = re.compile(r"([0-9]{1,12})|([+-]?[0-9]{1,16})\.\.([+-]?[0-9]{1,16})")
_WHOLE: Final = re.compile("[+-]?[0-9]+")
_IS_SPEC: Final = re.compile(r'"bipartite"\s*:')  # a key that every spec has, and no file of items


def domain_of(text: str, *, are_public: bool = False) -> Domain:
    """The domain that a literal describes.

    ``18..90`` are whole numbers, ``0..200000/401`` a continuous range on 401 points, ``cyclic:24`` and ``cyclic:1..12``
    a circle, ``grid:S,W,N,E/METRES`` the cells of a box, ``cities`` the built-in list. A file is known by its ending:
    ``.csv`` holds places, ``.json`` items or a spec, whose domain is meant. A file of places that looks like the
    positions of people is refused unless ``are_public``.

    >>> domain_of("18..90")
    Integers(18, 90)
    >>> domain_of("cyclic:1..12")
    Cyclic(12, start=1)
    """
    found = domain_or_mechanism(text, are_public=are_public)
    return found if isinstance(found, Domain) else found.domain


def domain_or_mechanism(text: str, *, are_public: bool = False) -> Domain | Mechanism:
    """The domain that a literal describes; of a spec, its mechanism."""
    kind, colon, rest = text.partition(":")
    ending = Path(text).suffix.lower()
    if text == _CITIES:
        listed = cities()
        return places(listed.coordinates, listed.names)
    if colon and kind == "cyclic":
        return _circle(rest)
    if colon and kind == "grid":
        return _grid(rest)
    if ending == ".json":
        held = read_text(Path(text))
        return load_spec(held) if _IS_SPEC.search(held) else read_items(Path(text))
    if ending in _TABLES:
        return read_places(Path(text), are_public=are_public, unless=ARE_PUBLIC)
    return _line(text)


def credit_of(text: str) -> str:
    """The source that every map of these places must name; empty if there is none."""
    return "GeoNames, CC BY 4.0, a selection" if text == _CITIES else ""


def _line(text: str) -> Domain:
    found = _RANGE.fullmatch(text)
    if found is None:
        raise InputError(
            "Expected a domain: LOW..HIGH, LOW..HIGH/POINTS, cyclic:N, grid:S,W,N,E/METRES, cities, or a file ending "
            f"in .csv (places) or .json (items, or a spec), got {text!r}; for example 18..90."
        )
    low, high, points = found.groups()
    if points is not None:
        return Interval(float(low), float(high), points=int(points))
    if _WHOLE.fullmatch(low) and _WHOLE.fullmatch(high):
        return Integers(int(low), int(high))
    raise InputError(
        f"Expected a continuous range with its number of points, LOW..HIGH/POINTS, got {text!r}; for example "
        f"{text}/101: a few hundred are enough for most ranges."
    )


def _circle(rest: str) -> Cyclic:
    found = _CIRCLE.fullmatch(rest)
    if found is None:
        raise InputError(
            f"Expected cyclic:N or cyclic:FIRST..LAST, got {f'cyclic:{rest}'!r}; for example cyclic:24 for hours, or "
            "cyclic:1..12 for months."
        )
    size, first, last = found.groups()
    return Cyclic(int(size)) if size is not None else Cyclic(int(last) - int(first) + 1, start=int(first))


def _grid(rest: str) -> Points:
    box, _, metres = rest.partition("/")
    try:
        degrees, side = [float(each) for each in box.split(",")], float(metres)
    except ValueError:
        raise InputError(
            "Expected grid:S,W,N,E/METRES, a box of south, west, north and east in degrees and the largest side of a "
            f"cell, got {f'grid:{rest}'!r}; for example grid:52.3,13,52.7,13.8/10000."
        ) from None
    return grid(degrees, metres=side)
