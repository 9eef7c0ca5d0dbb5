"""The options that several commands share: the domain, ε, m, edges, or a spec that holds them all."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bipartite.cli.output import Progress, announce
from bipartite.domains import Cyclic, Domain, Integers, Interval
from bipartite.errors import DataFileError, InputError
from bipartite.lottery import PREPARE_FROM, insecure_seed
from bipartite.mechanisms import BRR
from bipartite.mechanisms.catalogue import by_column
from bipartite.mechanisms.spec import load_spec
from bipartite.tables.domain_files import read_items, read_text
from bipartite.tables.place_files import read_places

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from bipartite.lottery import InsecureSeed
    from bipartite.mechanisms import Mechanism
    from bipartite.mechanisms.catalogue import Entry

KINDS: Final = ("integers", "interval", "cyclic", "places", "items")
"""The options that name a domain."""
ARE_PUBLIC: Final = "--places-are-public"
_DETAILS: Final = ("points", "rounding", "mechanism", "epsilon", "m", "edges", "prior")
"""Options that a spec replaces, and that make no sense without a domain."""


# Seconds on one core at 2.8 GHz, roughly, for each pair of places or items: to build BRR, and to prove its ε; and for
# each triple of values to solve the linear program.
_BUILT: Final = 4e-7
_PROVED: Final = 3e-7
_SOLVED: Final = 2e-7


def add_domain(parser: argparse.ArgumentParser, *, or_command: bool = False, required: bool = True) -> None:
    """Add the options that describe a domain, or a spec that holds one."""
    kinds = [*(f"--{kind}" for kind in KINDS), "--spec", *(["--command"] if or_command else [])]
    domain = parser.add_argument_group(f"the domain (one of {', '.join(kinds)})")
    which = domain.add_mutually_exclusive_group(required=required)
    if or_command:
        which.add_argument(
            "--command",
            metavar="'PROGRAM …'",
            help="a program that reads values and writes reports; --epsilon is what it claims",
        )
    which.add_argument(
        "--integers", metavar="LOW..HIGH", help="whole numbers; write --integers=-5..5 if the first is negative"
    )
    which.add_argument("--interval", metavar="LOW..HIGH", help="a continuous range, with --points")
    which.add_argument(
        "--cyclic", metavar="N", help="whole numbers on a circle: 24 for hours 0 to 23, or 1..12 for months"
    )
    which.add_argument("--places", metavar="FILE.csv", type=Path, help="places: columns lat, lon and, for labels, name")
    which.add_argument(
        "--items",
        metavar="FILE.json",
        type=Path,
        help='items: {"labels": […]}; if some are near, "loss" or "similarity": [[…]]',
    )
    which.add_argument(
        "--spec",
        metavar="FILE",
        type=Path,
        help="the spec of a mechanism, which replaces the options of domain and mechanism",
    )
    domain.add_argument("--points", metavar="N", type=int, help="the number of nodes on the interval")
    domain.add_argument(
        "--rounding", choices=["nearest", "random"], help="how a value is rounded to a node (default: nearest)"
    )
    add_are_public(domain)


def add_are_public(parser: argparse._ActionsContainer) -> None:
    """Add the option that declares a list of places public."""
    parser.add_argument(
        ARE_PUBLIC,
        action="store_true",
        help="declare the list public although it repeats places or has columns of people or times",
    )


def add_seed(parser: argparse._ActionsContainer) -> None:
    """Add the option that makes reports repeatable, and therefore not private."""
    parser.add_argument(
        "--insecure-seed", metavar="N", type=int, help="repeatable reports, for experiments: NOT private"
    )


def source_of(options: argparse.Namespace) -> InsecureSeed | None:
    """The random words that reports are drawn from, with a warning if someone may know them."""
    if options.insecure_seed is None:
        return None
    source = insecure_seed(options.insecure_seed)
    print(
        "bipartite: --insecure-seed: these reports are NOT private; whoever knows the seed can undo them.",
        file=sys.stderr,
    )
    return source


def add_mechanism(
    parser: argparse.ArgumentParser, *, or_command: bool = False, required: bool = True, default: str = "brr"
) -> None:
    """Add the options that describe a mechanism or, on request, a command whose mechanism is unknown."""
    add_domain(parser, or_command=or_command, required=required)
    mechanism = parser.add_argument_group("the mechanism")
    with_prior = [each.name for each in by_column().values() if each.prior]
    mechanism.add_argument(
        "--epsilon", metavar="E", help="the privacy budget of one report, a decimal such as 1 or 0.5"
    )
    mechanism.add_argument(
        "--mechanism",
        metavar="NAME",
        choices=tuple(by_column()),
        help=f"{', '.join(by_column())} (default: {default})",
    )
    mechanism.add_argument(
        "--m",
        metavar="M",
        help="safe (default) or best; mean, cdf or histogram with --edges padded or --cyclic; or the number of near "
        "values",
    )
    mechanism.add_argument(
        "--edges",
        choices=["clamped", "padded"],
        help="padded: reports extend past both ends of the range, for statistics",
    )
    mechanism.add_argument(
        "--prior",
        metavar="FILE",
        type=Path,
        help=f"with --m best, or for {', '.join(with_prior)}: public probabilities, one per line",
    )


def describes_mechanism(options: argparse.Namespace) -> bool:
    """Whether the options give a domain or a spec, without which no other option of a mechanism makes sense."""
    if _given(options, (*KINDS, "spec")):
        return True
    given = _given(options, _DETAILS)
    if given:
        raise InputError(f"Expected --spec, or a domain such as --integers 18..90, with {given[0]}.")
    return False


def mechanism_of(options: argparse.Namespace) -> Mechanism:
    """The mechanism that the options describe."""
    if options.spec is not None:
        refuse_given(options, _DETAILS, "--spec describes the whole mechanism")
        return load_spec(read_text(options.spec))
    name = options.mechanism or "brr"
    if name != "brr":
        return _rival(by_column()[name], options)
    need_epsilon(options)
    m: Any = "safe" if options.m is None else options.m
    domain = domain_of(options)
    announce("building this mechanism", _BUILT * len(domain) ** 2 if not domain.has_ends else 0.0)
    with Progress("rows", _rows_of_design(domain, m)) as progress:
        return BRR(
            domain,
            options.epsilon,
            m=int(m) if re.fullmatch("[0-9]{1,12}", m) else m,
            edges=options.edges or "clamped",
            prior=prior_of(options),
            progress=progress.advance,
        )


def announce_proof(mechanism: Mechanism) -> None:
    """Say beforehand if the proof of ε takes long: for windows over many places or items, which are proved in pairs."""
    if isinstance(mechanism, BRR) and not mechanism.domain.has_ends:
        announce("proving ε", _PROVED * len(mechanism.domain) ** 2)


def need_epsilon(options: argparse.Namespace) -> None:
    """Refuse to continue without an ε, which has no default."""
    if options.epsilon is None:
        raise InputError("Expected --epsilon, the privacy budget of one report; try --epsilon 1.")


def _rows_of_design(domain: Domain, m: str) -> int:
    """The number of rows that a design reports progress on: the search for m, and on many points that of neighbours."""
    searched = m in {"safe", "best"}
    found = not domain.has_ends and len(domain) >= PREPARE_FROM
    return len(domain) * max(1, searched + found)


def _rival(entry: Entry, options: argparse.Namespace) -> Mechanism:
    """A mechanism other than BRR."""
    refuse_given(options, ("m", "edges"), f"--mechanism {entry.name} has no window")
    if not entry.prior:
        refuse_given(options, ("prior",), f"--mechanism {entry.name} does not depend on a prior")
    if entry.epsilon:
        need_epsilon(options)
    else:
        refuse_given(options, ("epsilon",), f"--mechanism {entry.name} spends nothing")
    budget = [options.epsilon] if entry.epsilon else []
    prior = {} if options.prior is None else {"prior": prior_of(options)}
    domain = domain_of(options)
    announce("solving the linear program", _SOLVED * len(domain) ** 3 if entry.name == "optimal" else 0.0)
    made: Mechanism = entry.load()(domain, *budget, **prior)
    return made


def refuse_given(options: argparse.Namespace, names: Sequence[str], why: str) -> None:
    """Refuse options that make no sense here."""
    given = _given(options, names)
    if given:
        raise InputError(f"{why}; leave out {', '.join(given)}.")


def _given(options: argparse.Namespace, names: Sequence[str]) -> list[str]:
    """Those of these options that were given, as they are written."""
    flags: dict[str, str] = options.parsed_by.flags
    return [flags[name] for name in names if getattr(options, name) is not None]


def domain_of(options: argparse.Namespace) -> Domain:
    """The domain that the options describe, if they name no spec."""
    if options.interval is None and (options.points is not None or options.rounding is not None):
        raise InputError("--points and --rounding belong to --interval; leave them out.")
    if options.places is not None:
        return read_places(options.places, are_public=options.places_are_public, unless=ARE_PUBLIC)
    if options.items is not None:
        return read_items(options.items)
    if options.integers is not None:
        low, high = _ends("--integers", options.integers, int)
        return Integers(low, high)
    if options.cyclic is not None:
        return _circle(options.cyclic)
    if options.points is None:
        raise InputError(
            "Expected --points with --interval, the number of nodes; a few hundred are enough for most ranges."
        )
    low, high = _ends("--interval", options.interval, float)
    return Interval(low, high, points=options.points, rounding=options.rounding or "nearest")


def _circle(text: str) -> Cyclic:
    if re.fullmatch("[0-9]{1,12}", text):
        return Cyclic(int(text))
    ends = re.fullmatch(r"(-?[0-9]{1,16})\.\.(-?[0-9]{1,16})", text)
    if ends is None:
        raise InputError(
            f"Expected --cyclic as the number of values, or as FIRST..LAST, got {text!r}; --cyclic 24, or 1..12."
        )
    return Cyclic(int(ends[2]) - int(ends[1]) + 1, start=int(ends[1]))


def _ends(option: str, text: str, number: type) -> tuple[Any, Any]:
    ends = re.fullmatch(r"(.+?)\.\.(.+)", text)
    if ends:
        try:
            return number(ends[1]), number(ends[2])
        except ValueError:
            pass
    raise InputError(f"Expected {option} as LOW..HIGH, got {text!r}; for example {option} 18..90.")


def prior_of(options: argparse.Namespace) -> list[float] | None:
    """The prior that the options name; None for uniform."""
    return None if options.prior is None else probabilities_in(options.prior)


def probabilities_in(path: Path) -> list[float]:
    """The numbers in a file, one per line."""
    try:
        return [float(line) for line in read_text(path).split()]
    except ValueError:
        raise DataFileError(f"{path} does not hold one probability per line.") from None
