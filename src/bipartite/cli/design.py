"""``bipartite design``: choose or build a mechanism for a domain, compare all, or ask how many people are needed."""

from __future__ import annotations

import json
import re
import shlex
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, cast

import numpy as np

from bipartite.answers.advise import Row, compare, recommend, sample_size
from bipartite.answers.advise.candidates import PURPOSES
from bipartite.answers.advise.forecasting import Foreseen, check_n
from bipartite.answers.quality import loss
from bipartite.cli.literals import ARE_PUBLIC, credit_of, domain_or_mechanism
from bipartite.cli.output import OK, Progress, note, print_json, print_table, printed, write_all
from bipartite.cli.program import refuse_given
from bipartite.cli.waiting import announce_design, announce_proof, announce_search
from bipartite.domains import Domain, Points
from bipartite.errors import DataFileError, InputError
from bipartite.locations import plot
from bipartite.lottery import PREPARE_FROM
from bipartite.mechanisms import BRR, GRR, Anchored, Constant, Custom, Mechanism
from bipartite.mechanisms.catalogue import by_column
from bipartite.mechanisms.design.m import check_prior
from bipartite.mechanisms.design.m_for_statistics import PEOPLE
from bipartite.plots.figure import as_file, check_ending, need_matplotlib
from bipartite.tables.domain_files import read_text
from bipartite.verification import verify

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from bipartite.answers.advise import Recommendation

_DOMAINS = """What may be reported, DOMAIN, is one of
  18..90, -5..5             whole numbers
  0..200000/401             a range, on so many points
  cyclic:24, cyclic:1..12   whole numbers on a circle
  items.json                {"labels": […]}; if some are near, "loss" or "similarity": [[…]]
  shops.csv                 public places, never those of people: columns lat, lon, name
  cities                    the built-in list; grid:S,W,N,E/METRES is the cells of a box
  age.json                  the domain of a spec; without --epsilon, its mechanism
"""
EXAMPLES: Final = """examples:
  bipartite design 18..90 --epsilon 1 --for mean --output age.json
  bipartite design 18..90 --epsilon 0.25..4 --compare --plot loss.svg
"""
_ONE_OF: Final = tuple(each for each in PURPOSES if each != "statistics")
_DRAWN: Final = {"mean": "mean_error", "distribution": "distribution_error"} | dict.fromkeys(
    ("categories", "map"), "histogram_error"
)
"""The measure that a picture shows for a purpose; of single reports, their expected loss."""
_STEPS: Final = 20  # values of ε in a range
_SHOWN: Final = (
    ("near outputs m", "m", ","),
    ("probability of each near output", "near_probability", ".6g"),
    ("probability of each other output", "far_probability", ".6g"),
    ("expected error of one report", "expected_loss", ".6g"),
    ("  above that of the best possible mechanism by at most", "gap", ".2%"),
    ("  of the worst value", "worst_loss", ".6g"),
    ("  of GRR with this ε", "expected_loss_grr", ".6g"),
    ("  of the best constant answer", "expected_loss_constant", ".6g"),
)
"""The rows of the table: label, key in JSON, format."""
_ESTIMATED: Final = (
    ("the mean", "mean_error", "mean"),
    ("the share of a value", "histogram_error", "share"),
    ("a cumulative share", "distribution_error", "distribution"),
)
"""The estimates from many reports: label, key in JSON, what is forecast."""


class PrintedDesign(TypedDict):
    """A mechanism, and how precise it is; null for what it does not have or what takes too long to compute."""

    spec: dict[str, Any]
    spec_sha256: str
    values: int
    epsilon_upper: str
    holds: bool
    guarantee: str
    outputs: int | None
    m: int | None
    near_probability: float | None
    far_probability: float | None
    expected_loss: float | None
    worst_loss: float | None
    gap: float | None
    expected_loss_grr: float | None
    expected_loss_constant: float | None
    purpose: str | None
    people: int
    mean_error: float | None
    histogram_error: float | None
    distribution_error: float | None
    recommendation: str | None


class PrintedAdvice(TypedDict):
    """What to take for one purpose at one ε."""

    purpose: Literal["release", "mean", "distribution", "categories", "map"]
    epsilon: str
    mechanism: str | None
    code: str | None
    reason: str
    figures: str
    warning: str
    detail: str
    error: float | None
    people: int | None
    without_asking: float | None
    best: str | None
    ratio: float | None
    worst_ratio: float | None
    worst_shape: str


class PrintedComparison(TypedDict):
    """Every mechanism side by side (``--compare``)."""

    domain: str
    values: int
    users: int | None
    tolerance: float | None
    prior: Literal["given", "uniform"]
    rows: list[Row]
    advice: list[PrintedAdvice]
    recommendation: str


class PrintedPeople(TypedDict):
    """How many people are needed (``--mean-within``, ``--share-within``)."""

    people: int
    people_worst: int | None
    standard_error: float
    of: Literal["mean", "share"]
    within: float
    confidence: float
    mechanism: str
    epsilon: str
    chosen: bool
    population: Literal["given", "uniform"]
    assumptions: str


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.usage = "%(prog)s DOMAIN --epsilon E [options]"
    parser.description = _DOMAINS
    add, named = parser.add_argument, tuple(by_column())
    add("domain", metavar="DOMAIN", help="what may be reported")
    add("--epsilon", metavar="E", help="the budget of one report, such as 0.5; to compare: 0.5,1,2 or LOW..HIGH")
    best = "take what is best for: release (each report as it is), mean, distribution, categories (shares), map"
    add("--for", dest="purpose", choices=_ONE_OF, metavar="PURPOSE", help=best)
    add("--mechanism", metavar="NAME", choices=named, help=f"without --for (default: brr): {', '.join(named)}")
    add("--m", metavar="M", help="of brr: safe (default), best, a number; padded or cyclic: mean, cdf, histogram")
    add("--edges", choices=["clamped", "padded"], help="of brr; padded: reports extend past both ends, for statistics")
    add("--prior", metavar="FILE", type=Path, help="public probabilities of the values, one per line")
    add("--n", metavar="N", type=int, help=f"people who report ({PEOPLE:,}; none with --compare alone)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--compare", action="store_true", help="every mechanism side by side, and which to use")
    which.add_argument("--mean-within", metavar="D", type=float, help="how many people, for a mean within D?")
    people = "how many people, for shares within D, such as 0.01?"
    which.add_argument("--share-within", metavar="D", type=float, help=people)
    add("--confidence", metavar="C", type=float, help="the probability of being so close (default: 0.95)")
    add("--plot", metavar="FILE", type=Path, help="draw the comparison, or the places: .svg, .png or .pdf")
    add(ARE_PUBLIC, action="store_true", help="the list is public, though it repeats places or names people or times")
    add("--output", metavar="FILE", type=Path, help="write the spec to this file, or the rows of a comparison as CSV")
    add("--json", action="store_true", help="print one JSON object (schemas/design*.json)")


def run(options: argparse.Namespace) -> int:
    """Design, compare, or say how many people are needed."""
    if options.plot is not None:
        check_ending(options.plot)
        need_matplotlib("--plot")
    if options.compare:
        return _compare(options)
    if options.epsilon is not None and "," in options.epsilon:
        raise InputError(f"Expected one ε as --epsilon, got {options.epsilon!r}; several are for --compare.")
    return _design(options) if options.mean_within is options.share_within is None else _people(options)


def _design(options: argparse.Namespace) -> int:
    refuse_given(options, ("confidence",), "--confidence belongs to --mean-within or --share-within")
    people = PEOPLE if options.n is None else check_n(options.n)
    domain, spec = _given(options)
    if options.plot is not None and not isinstance(domain, Points):
        raise InputError("--plot draws places, or a comparison; add --compare, or leave it out.")
    found = None if options.purpose is None else _recommended(options, domain)
    mechanism = _named(options, domain, spec) if found is None else found.mechanism
    prior = _prior(options)
    announce_proof(mechanism)
    certificate = verify(mechanism)
    described = printed(
        PrintedDesign,
        certificate,
        spec=mechanism.to_spec(),
        values=len(mechanism.domain),
        epsilon_upper=str(certificate.epsilon_upper),
        purpose=options.purpose,
        people=people,
        **_figures(mechanism, prior, people, options.epsilon),
        recommendation=None if found is None else str(found),
    )
    places = cast("Points", domain)
    text = json.dumps(described["spec"], indent=2) + "\n"
    if options.output is not None and options.output.is_file() and options.output.read_bytes() != text.encode():
        raise InputError(
            f"{options.output} already exists, and reports drawn with its spec cannot be read without it; name another "
            "file, or remove it."
        )
    picture = partial(as_file, lambda: plot(places, credit=credit_of(options.domain)), options.plot)
    write_all([(options.output, lambda: text), (options.plot, picture)])
    if options.json:
        print_json(described)
        return OK
    print_table(("", repr(mechanism)), _rows(described))
    print(certificate)
    budget = "" if options.epsilon else f"--epsilon {format(mechanism.epsilon_decimal, 'f')} "
    print(
        found or f"Another mechanism may be better, depending on what the reports are for: add {budget}--for PURPOSE."
    )
    if options.output is not None:
        # Positions come from two columns of a table, other values one a line.
        in_plan = f'a plan with [columns.place], from = ["lat", "lon"], spec = {json.dumps(str(options.output))}'
        values = f"bipartite privatize IN OUT --spec {shlex.quote(str(options.output))}, with one value a line in IN"
        note(f"next: {in_plan if isinstance(domain, Points) else values}")
    return OK


def _recommended(options: argparse.Namespace, domain: Domain) -> Recommendation:
    refuse_given(options, ("mechanism", "m", "edges"), "--for chooses the mechanism")
    epsilon = _epsilon(options)
    announce_search(domain)
    return recommend(domain, epsilon, options.purpose, n=options.n, prior=_prior(options))


def _compare(options: argparse.Namespace) -> int:
    refuse_given(options, ("mechanism", "m", "edges", "confidence"), "--compare takes every mechanism")
    if options.output is not None and options.output.suffix.lower() != ".csv":
        raise InputError(f"Expected --output as a file ending in .csv with --compare, got {str(options.output)!r}.")
    domain, spec = _given(options)
    if spec is not None and options.epsilon is None:
        epsilons = [format(spec.epsilon_decimal, "f")]
    else:
        epsilons = [each for text in _epsilon(options).split(",") for each in _between(text)]
    # Without people no error of an estimate is known, and --plot would have nothing to draw.
    people = PEOPLE if options.n is None and options.purpose in _DRAWN else options.n
    announce_search(domain, len(epsilons), statistics=people is not None)
    also = {"Custom": spec} if isinstance(spec, Custom) else None
    found = compare(domain, epsilons, n=people, prior=_prior(options), purpose=options.purpose, also=also)
    picture = partial(as_file, lambda: found.plot(_DRAWN.get(options.purpose, "expected_loss")), options.plot)
    write_all([(options.output, found.to_csv), (options.plot, picture)])
    if options.json:
        print_json(found.to_dict())
    else:
        print(found)
    return OK


def _people(options: argparse.Namespace) -> int:
    refuse_given(options, ("purpose", "n", "plot", "output"), "the answer is a number of people")
    domain, spec = _given(options)
    asked = {
        "mean_within": options.mean_within,
        "share_within": options.share_within,
        "confidence": 0.95 if options.confidence is None else options.confidence,
        "prior": _prior(options),
    }
    named = any(each is not None for each in (options.mechanism, options.m, options.edges))
    if named or (spec is not None and options.epsilon is None):
        found = sample_size(_named(options, domain, spec, assumed=True), **asked)
    else:
        epsilon = _epsilon(options)
        announce_search(domain)
        found = sample_size(domain, epsilon, **asked)
    if options.json:
        print_json(found.to_dict())
        return OK
    print(found)
    if found.chosen:
        purpose = "mean" if found.of == "mean" else "categories"
        words = ["bipartite", "design", options.domain, "--epsilon", options.epsilon, "--for", purpose]
        words += ["--prior", str(options.prior)] if options.prior is not None else []
        note(f"next: {shlex.join([*words, '--output', 'spec.json'])}")
    return OK


def _given(options: argparse.Namespace) -> tuple[Domain, Mechanism | None]:
    """The domain; of a spec its mechanism, too."""
    given = domain_or_mechanism(options.domain, are_public=options.places_are_public)
    return (given, None) if isinstance(given, Domain) else (given.domain, given)


def _epsilon(options: argparse.Namespace) -> str:
    """The ε, or several of a comparison; it has no default."""
    if options.epsilon is None:
        raise InputError("Expected --epsilon, the privacy budget of one report; try --epsilon 1.")
    return str(options.epsilon)


def _between(text: str) -> list[str]:
    """An ε, or LOW..HIGH as equal steps, rounded to three decimals."""
    first, dots, last = text.partition("..")
    if not dots:
        return [text]
    try:
        low, high = Decimal(first), Decimal(last)
        inside = [str(round(low + (high - low) * number / (_STEPS - 1), 3)) for number in range(1, _STEPS - 1)]
        rising = 0 < low < high
    except (InvalidOperation, ValueError):
        rising = False
    if not rising:
        raise InputError(f"Expected --epsilon as a decimal or LOW..HIGH, got {text!r}; for example --epsilon 0.25..5.")
    return [first, *(each for each in inside if low < Decimal(each) < high), last]


def _prior(options: argparse.Namespace) -> list[float] | None:
    """The public probabilities of the values; None for uniform."""
    try:
        return None if options.prior is None else [float(line) for line in read_text(options.prior).split()]
    except ValueError:
        raise DataFileError(f"{options.prior} does not hold one probability per line.") from None


def _named(options: argparse.Namespace, domain: Domain, spec: Mechanism | None, *, assumed: bool = False) -> Mechanism:
    """The mechanism of a spec, or the one that is named; a prior that is ``assumed`` need not be one of its options."""
    if spec is not None and options.epsilon is None:
        left = ("mechanism", "m", "edges") if assumed else ("mechanism", "m", "edges", "prior")
        refuse_given(options, left, "without --epsilon, the spec describes the whole mechanism")
        return spec
    entry = by_column()[options.mechanism or "brr"]
    is_brr = entry.name == "brr"
    takes_prior = entry.prior or (is_brr and (options.m == "best" or not assumed))
    if not is_brr:
        refuse_given(options, ("m", "edges"), f"--mechanism {entry.name} has no window")
    if not (takes_prior or assumed):
        refuse_given(options, ("prior",), f"--mechanism {entry.name} does not depend on a prior")
    if not entry.epsilon:
        refuse_given(options, ("epsilon",), f"--mechanism {entry.name} spends nothing")
    budget = [_epsilon(options)] if entry.epsilon else []
    settings: dict[str, Any] = {"prior": _prior(options)} if takes_prior and options.prior is not None else {}
    announce_design(entry.name, domain)
    if not is_brr:
        made: Mechanism = entry.load()(domain, *budget, **settings)
        return made
    m: Any = "safe" if options.m is None else options.m
    number = int(m) if re.fullmatch("[0-9]{1,12}", m) else m
    edges: Any = options.edges or "clamped"
    with Progress("rows", _rows_of_design(domain, m)) as progress:
        return BRR(domain, *budget, m=number, edges=edges, progress=progress.advance, **settings)


def _rows_of_design(domain: Domain, m: str) -> int:
    """The number of rows that a design reports progress on: the search for m, and on many points that of neighbours."""
    searched = m in {"safe", "best"}
    found = not domain.has_ends and len(domain) >= PREPARE_FROM
    return len(domain) * max(1, searched + found)


def _figures(mechanism: Mechanism, prior: list[float] | None, people: int, epsilon: str | None) -> dict[str, Any]:
    """The errors of one report, beside GRR and the constant answer, and those of estimates; None for what it lacks."""
    found: dict[str, Any] = dict.fromkeys(("outputs", *(key for _, key, _ in (*_SHOWN, *_ESTIMATED))))
    if not mechanism.flat:  # reports are values
        about = loss(mechanism, prior)
        always = loss(Constant(mechanism.domain, prior=prior), prior).mean
        found |= {"outputs": len(mechanism.outputs), "expected_loss_constant": always}
        found |= {"expected_loss": about.mean, "worst_loss": about.worst}
        with suppress(InputError):  # there is no GRR of every ε
            found["expected_loss_grr"] = loss(GRR(mechanism.domain, epsilon or mechanism.epsilon_decimal), prior).mean
    if isinstance(mechanism, Anchored):
        found["gap"] = mechanism.gap
    if isinstance(mechanism, BRR):  # a window has two probabilities; other mechanisms have many
        window, total = mechanism.tickets, mechanism.lottery.total
        found |= {"m": mechanism.m, "near_probability": window.near / total, "far_probability": window.far / total}
    foreseen, size = Foreseen(mechanism), len(mechanism.domain)
    shares = np.full(size, 1 / size) if prior is None else check_prior(prior, size)
    for _, key, of in _ESTIMATED if foreseen.too_large is None else ():
        errors = foreseen.errors(of, shares[None, :], people)
        found[key] = None if errors is None else float(errors[0])
    return found


def _rows(described: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The rows of the table; what a mechanism does not have is left out."""
    outputs = "" if described["outputs"] is None else f", {described['outputs']:,}"
    rows = [("values, outputs" if outputs else "values", f"{described['values']:,}{outputs}")]
    for words, key, how in _SHOWN:
        value = described[key]
        if outputs and (value is not None or key == "expected_loss_grr"):
            rows.append((words, "not available" if value is None else format(value, how)))
    rows.append((f"errors of estimates from {described['people']:,} reports", ""))
    for words, key, _ in _ESTIMATED:
        value = described[key]
        rows.append((f"  of {words}", "cannot be estimated" if value is None else format(value, ".6g")))
    return rows
