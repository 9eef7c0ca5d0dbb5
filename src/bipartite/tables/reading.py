"""Reading ``plan.toml``: every column with its domain, mechanism and options, reporting every problem at once."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from bipartite.domains import Cyclic, Domain, Integers, Interval, Items, Points, Product
from bipartite.errors import DataFileError, InputError, Problems, is_one_of, shown
from bipartite.files import not_found
from bipartite.lottery import Epsilon
from bipartite.mechanisms.catalogue import by_table
from bipartite.mechanisms.spec import load_spec
from bipartite.names import nearest_name, unknown_name
from bipartite.tables.columns import PUBLIC, Column
from bipartite.tables.domain_files import read_items, read_places, read_text
from bipartite.tables.purposes import PURPOSES, choice, line_choice

if TYPE_CHECKING:
    from bipartite.mechanisms import Mechanism

Found = TypeVar("Found")
TODO: Final = "TODO"
"""The placeholder that ``bipartite plan new`` writes for what only a person can know."""
_OF_MECHANISM: Final = ("domain", "mechanism", "epsilon", "m", "edges", "prior")
_OF_PLANS: Final = ("columns", "sample")
_KEYS: Final = ("public", "for", "from", *_OF_MECHANISM, "spec", "nulls", "outside", "max_distance")
_KINDS: Final = {
    "integers": (),
    "interval": ("points", "rounding"),
    "cyclic": ("start", "labels"),
    "categories": (),
    "coordinates": ("metric", "labels"),
    "places": ("places_are_public",),
    "items": (),
    "product": ("weights",),
}
_PARTS: Final = tuple(dict.fromkeys([*_KINDS, *(part for parts in _KINDS.values() for part in parts)]))
_MOST_CATEGORIES: Final = 4096
_TWO: Final = 2
_NEEDED: Final = {
    "domain": "the possible values, from public knowledge: a range learned from the data is itself a release",
    "epsilon": "the privacy budget of one report; most uses lie between 0.5 and 2, and above 4 a report hides little",
}


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; decimals stay exact, because ε is one."""
    try:
        return tomllib.loads(read_text(path), parse_float=Decimal)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DataFileError(f"{path} is not TOML: {error}; repair it.") from None


def columns_in(described: object, folder: Path | None) -> dict[str, Any]:
    """Build the columns that a plan describes, or report every problem of every column."""
    problems = Problems()
    if not isinstance(described, Mapping):
        raise InputError(f"Expected a plan as a dict, got {type(described).__name__}; pass {{'columns': {{…}}}}.")
    _check_keys("the plan", described, _OF_PLANS, problems)
    given = described.get("columns")
    if not isinstance(given, Mapping) or not given:
        problems.add("Expected a plan with [columns.NAME] for every column that is kept; add one.")
        given = {}
    found: dict[str, Any] = {}
    for name, options in given.items():
        with problems.noting(f"columns.{name}: "):
            found[name] = column_in(options, folder)
    problems.raise_if_any(InputError)
    return found


def _check_keys(what: str, given: Mapping[str, Any], known: tuple[str, ...], problems: Problems) -> None:
    for key in given:
        if key not in known:
            found = unknown_name("unknown key", str(key), known)
            others = "" if found.endswith("?)") else f"; its keys are {', '.join(known)}"
            if key in _OF_PLANS:
                found, others = f"unknown key {key!r}", "; it belongs to the whole plan, above the first [columns.NAME]"
            problems.add(f"{what}: {found}{others}." if what else f"{found}{others}.")


def suggest(given: object, known: Iterable[str], otherwise: str) -> str:
    """A hint for an unknown name: the most similar known one, or ``otherwise``."""
    near = nearest_name(given, known)
    return otherwise if near is None else f"did you mean {near!r}?"


def column_in(options: object, folder: Path | None) -> Column | str:
    """Build the column that these keys of a plan describe, or report every problem."""
    if not isinstance(options, Mapping):
        raise InputError(
            f"Expected keys such as domain and epsilon, got {type(options).__name__}; write [columns.NAME] above them."
        )
    problems = Problems()
    _check_keys("", options, _KEYS, problems)
    public = options.get("public", False)
    if not isinstance(public, bool):
        problems.add(f"Expected public = true or false, got {shown(public)}.")
    if public is True:
        if len(options) > 1:
            others = ", ".join(repr(key) for key in options if key != "public")
            problems.add(f"A public column is copied unchanged, and takes no {others}; leave them out.")
        problems.raise_if_any(InputError)
        return PUBLIC
    todo = _todo(options)
    for key in todo:
        problems.add(f"{key} still says {TODO}: {_NEEDED.get(key, 'fill it in')}.")
    found: dict[str, Any] = {"max_distance": _numbers([options.get("max_distance", math.inf)])[0]}
    for key, words in (("outside", ("error", "clip")), ("nulls", ("error", "keep"))):
        if key not in todo:
            with problems.noting():
                found |= _choice(key, options.get(key, "error"), words)
    if "from" not in todo:
        with problems.noting():
            found["inputs"] = _inputs(options.get("from"))
    if "for" not in todo:
        with problems.noting():
            found["purpose"] = _purpose(options.get("for"))
    with problems.noting():
        found["mechanism"], found["chosen"] = _mechanism(options, todo, folder, found.get("purpose"))
    problems.raise_if_any(InputError)
    return Column(**found)


def _todo(options: Mapping[str, Any]) -> list[str]:
    """The keys whose values contain a placeholder."""

    def holds(value: object) -> bool:
        if isinstance(value, Mapping):
            return any(map(holds, value.values()))
        return any(map(holds, value)) if isinstance(value, list) else value == TODO

    return [key for key, value in options.items() if holds(value)]


def _inputs(given: object) -> tuple[str, ...]:
    if given is None:
        return ()
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
        raise InputError(
            f'Expected from as the name of a column, or a list of two or more, got {shown(given)}; use ["lat", "lon"].'
        )
    return tuple(names)


def _choice(key: str, given: object, words: tuple[str, str]) -> dict[str, Any]:
    """The options of a Column for ``nulls`` and ``outside``: a keyword, or { as = value }."""
    if isinstance(given, Mapping) and set(given) == {"as"}:
        (stand_in,) = _numbers(given.values())
        return {f"{key}_as": tuple(_numbers(stand_in)) if isinstance(stand_in, list) else stand_in}
    if isinstance(given, str) and given in words:
        return {key: given}
    raise InputError(
        f"Expected {key} = {words[0]!r}, {words[1]!r} or {{ as = a value of the domain }}, got {shown(given)}."
    )


def _purpose(given: object) -> str | None:
    """The purpose of a column, if given."""
    if given is None or is_one_of(given, tuple(PURPOSES)):
        return None if given is None else str(given)
    hint = suggest(given, PURPOSES, f"one of {', '.join(PURPOSES)}.")
    raise InputError(f"Expected for = what the column is for, got {shown(given)}; {hint}")


def _mechanism(
    options: Mapping[str, Any], todo: list[str], folder: Path | None, purpose: str | None
) -> tuple[Mechanism | None, dict[str, str]]:
    """The mechanism of a column (None if something is still to be filled in), and what its purpose chose."""
    if "spec" in options:
        others = [key for key in _OF_MECHANISM if key in options]
        if others:
            raise InputError(f"A spec says everything about the mechanism; leave out {', '.join(others)}.")
        return load_spec(_in_file(options["spec"], folder, read_text)), {}
    problems = Problems()
    with problems.noting():
        name = _checked_name(options)
    if "domain" in options and "domain" not in todo:
        with problems.noting():
            domain = _domain(options["domain"], folder)
    if "epsilon" in options and "epsilon" not in todo:
        with problems.noting():
            Epsilon.of(options["epsilon"])
    problems.raise_if_any(InputError)
    entry = by_table()[name]
    if todo or "domain" not in options or (entry.epsilon and "epsilon" not in options):
        return None, {}
    filled = {} if purpose is None else _left_open(purpose, domain, options, name)
    chosen = {key: value for key, value in filled.items() if key not in options}
    options = {**chosen, **options}
    entry = by_table()[options.get("mechanism", name)]
    extra = {key: options[key] for key in ("m", "edges", "prior") if key in options}
    if isinstance(extra.get("prior"), list):
        extra["prior"] = _numbers(extra["prior"])
    made: Mechanism = entry.load()(domain, *([options["epsilon"]] if entry.epsilon else []), **extra)
    return made, chosen


def _left_open(purpose: str, domain: Domain, options: Mapping[str, Any], name: str) -> dict[str, str]:
    """The choices that a purpose makes where the plan does not."""
    if not any(key in options for key in ("mechanism", "m", "edges")):
        return choice(purpose, domain, options.get("epsilon"), flat=_is_categorical(options))
    window = line_choice(purpose) if name == "brr" and domain.has_ends else {}
    padded = "m" in window and options.get("edges", "padded") == "padded"
    return {key: window[key] for key in ("edges", "m")} if padded else {}


def _checked_name(options: Mapping[str, Any]) -> str:
    """The name of the mechanism, after checking that its options are complete and none is superfluous."""
    problems = Problems()
    name: str = options.get("mechanism", "grr" if _is_categorical(options) else "brr")
    known = by_table()
    entry = known[name] if is_one_of(name, tuple(known)) else None
    if entry is None:
        hint = suggest(name, known, f"one of {', '.join(known)}.")
        if name == "rappor":
            hint = "its reports come from a permanent answer stored on each device, which a table lacks: use 'oue'."
        problems.add(f"Expected the name of a mechanism, got {shown(name)}; {hint}")
    for key in ("domain", "epsilon"):
        needed = key != "epsilon" or entry is None or entry.epsilon
        misspelt = any(nearest_name(each, _KEYS) == key for each in options if each not in _KEYS)  # already reported
        if key not in options and needed and not misspelt:
            problems.add(f"Expected {key}: {_NEEDED[key]}.")
    # The options of a misspelt name are unknown.
    if entry is not None and name != "brr":
        for key in ("m", "edges"):
            if key in options:
                problems.add(f"{key} applies to brr; leave it out.")
        if "prior" in options and not entry.prior:
            problems.add(f"{name} does not depend on a prior; leave it out.")
    problems.raise_if_any(InputError)
    return name


def _is_categorical(options: Mapping[str, Any]) -> bool:
    domain = options.get("domain")
    parts = domain.get("product") if isinstance(domain, Mapping) else None
    if isinstance(parts, list):
        return all(isinstance(part, Mapping) and "categories" in part for part in parts)
    return isinstance(domain, Mapping) and "categories" in domain


def _domain(described: object, folder: Path | None) -> Domain:
    problems = Problems()
    given: Mapping[str, Any] = described if isinstance(described, Mapping) else {}
    kinds = [kind for kind in _KINDS if kind in given]
    _check_keys("domain", given, _PARTS, problems)
    if len(kinds) != 1 and not problems:
        problems.add(
            f"Expected a domain of one kind, such as {{ integers = [18, 90] }}; the kinds are {', '.join(_KINDS)}."
        )
    problems.raise_if_any(InputError)
    kind = kinds[0]
    wrong = [part for part in given if part != kind and part not in _KINDS[kind]]
    if wrong:
        raise InputError(f"A domain of {kind} takes no {', '.join(wrong)}; leave it out.")
    value = given[kind]
    if kind in {"integers", "interval"}:
        return _line(kind, value, given)
    if kind == "categories":
        return categories_of(value)
    if kind == "product":
        return _product(value, given.get("weights"), folder)
    if kind == "cyclic":
        return Cyclic(value, **{part: given[part] for part in _KINDS[kind] if part in given})
    if kind == "coordinates":
        rows = [_numbers(row) if isinstance(row, list) else row for row in value] if isinstance(value, list) else value
        return Points(rows, given.get("metric", "euclidean"), labels=given.get("labels"))
    return _in_file(value, folder, read_items if kind == "items" else _reader_of_places(given))


def _reader_of_places(given: Mapping[str, object]) -> Callable[[Path], Domain]:
    public = given.get("places_are_public", False)
    if not isinstance(public, bool):
        raise InputError(
            f"Expected places_are_public = true or false, got {shown(public)}; true confirms that the list is public."
        )
    return lambda path: read_places(path, are_public=public)


def _product(parts: object, weights: Any, folder: Path | None) -> Domain:  # noqa: ANN401 (as it was written)
    if not isinstance(parts, list):
        raise InputError(
            f"Expected product = [a domain, a domain], got {shown(parts)}; for example product = "
            '[{ integers = [18, 90] }, { categories = ["yes", "no"] }].'
        )
    found = []
    problems = Problems()
    for number, part in enumerate(parts):
        with problems.noting(f"part {number}: "):
            found.append(_domain(part, folder))
    problems.raise_if_any(InputError)
    return Product(*found, weights=_numbers(weights) if isinstance(weights, list) else weights)


def _line(kind: str, ends: object, given: Mapping[str, Any]) -> Domain:
    if not isinstance(ends, list) or len(ends) != _TWO:
        raise InputError(f"Expected {kind} = [low, high], got {shown(ends)}; for example {kind} = [18, 90].")
    low, high = _numbers(ends)
    if kind == "integers":
        return Integers(low, high)
    if "points" not in given:
        raise InputError("Expected points with interval, the number of nodes; a few hundred suit most ranges.")
    return Interval(low, high, points=given["points"], rounding=given.get("rounding", "nearest"))


def categories_of(labels: object) -> Domain:
    """A set of labels in which every wrong label is equally wrong."""
    if not isinstance(labels, list) or not _TWO <= len(labels) <= _MOST_CATEGORIES:
        raise InputError(
            f"Expected categories as a list of 2 to {_MOST_CATEGORIES} labels; name every possible answer."
        )
    return Items(labels)


def _numbers(values: Iterable[Any]) -> list[Any]:
    """Convert TOML decimals to floats; anything else is left for later checks."""
    return [float(value) if isinstance(value, Decimal) else value for value in values]


def _in_file(given: object, folder: Path | None, read: Callable[[Path], Found]) -> Found:
    """Read a file that a plan names."""
    if not isinstance(given, str) or not given:
        raise InputError(f"Expected the name of a file, got {shown(given)}.")
    try:
        return read((folder or Path()) / given)
    except OSError as error:
        found = not_found(error.filename) if isinstance(error, FileNotFoundError) else None
        raise DataFileError(
            found or f"{error.filename} cannot be read ({error.strerror}); name a file that can."
        ) from None
