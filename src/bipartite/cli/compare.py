"""``bipartite compare``: every applicable mechanism side by side, and which to use."""

from __future__ import annotations

import argparse
import re
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bipartite.answers.advise import compare
from bipartite.answers.advise.candidates import PURPOSES
from bipartite.answers.advise.measuring import MEASURES
from bipartite.cli.arguments import add_domain, domain_of, need_epsilon, prior_of
from bipartite.cli.output import OK, print_json
from bipartite.cli.waiting import announce_search
from bipartite.errors import InputError
from bipartite.files import write_atomically
from bipartite.mechanisms import Custom
from bipartite.mechanisms.spec import load_spec
from bipartite.plots.figure import as_file, check_ending, need_matplotlib
from bipartite.tables.domain_files import read_text

if TYPE_CHECKING:
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

_EXAMPLES = """examples:
  bipartite compare --integers 18..90 --epsilon 1
  bipartite compare --integers 18..90 --epsilon 0.5 1 2 --users 10000 --tolerance 5
  bipartite compare --integers 18..90 --epsilon 0.25..5 --plot loss.svg    20 values of ε
  bipartite compare --interval 0..1 --points 101 --epsilon 1 --users 10000 --plot mean.svg --measure mean_error

A mechanism that does not keep its ε is marked (!) and never recommended. If --spec describes a mechanism of your own
(bp.Custom), it is compared too.
"""
# The number of values of ε in a range.
_STEPS: Final = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.epilog = _EXAMPLES
    add_domain(parser)
    asked = parser.add_argument_group("the comparison")
    asked.add_argument(
        "--epsilon",
        metavar="E",
        nargs="+",
        help=f"the privacy budget of one report; several, or LOW..HIGH for {_STEPS} values (--spec has its own)",
    )
    asked.add_argument(
        "--users",
        dest="n",
        metavar="N",
        type=int,
        help="the number of people who will report: adds the errors of statistics",
    )
    asked.add_argument("--tolerance", metavar="D", type=float, help="add the share of reports within this distance")
    asked.add_argument(
        "--prior", metavar="FILE", type=Path, help="public probabilities of the values, one per line (default: uniform)"
    )
    asked.add_argument("--purpose", choices=PURPOSES, help="what the reports are for (default: all that apply)")
    asked.add_argument("--exact", action="store_true", help="solve the linear program too (at most 400 values; slow)")
    asked.add_argument("--within", metavar="D", type=float, help=argparse.SUPPRESS)  # the former name of --tolerance
    given = parser.add_argument_group("the answer")
    given.add_argument("--json", action="store_true", help="print one JSON object (schemas/compare.json)")
    given.add_argument("--csv", metavar="FILE", type=Path, help="write the rows to this file as CSV")
    given.add_argument("--plot", metavar="FILE.svg", type=Path, help="plot a measure to this file, .svg, .png or .pdf")
    given.add_argument("--measure", choices=MEASURES, help="the measure to plot (default: expected_loss)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare the mechanisms on a domain."""
    if options.plot is not None:
        check_ending(options.plot)
        need_matplotlib("--plot")
    if options.measure is not None and options.plot is None:
        raise InputError("--measure belongs to --plot; leave it out, or name a file with --plot.")
    domain, epsilons, own = _asked(options)
    announce_search(domain, len(epsilons), statistics=options.n is not None)
    found = compare(
        domain,
        epsilons,
        n=options.n,
        prior=prior_of(options),
        tolerance=options.within if options.tolerance is None else options.tolerance,
        purpose=options.purpose,
        exact=options.exact,
        also=own,
    )
    # Everything is computed before anything is written.
    picture = options.plot and as_file(lambda: found.plot(options.measure or "expected_loss"), options.plot)
    if options.csv is not None:
        write_atomically(options.csv, found.to_csv())
    if picture is not None:
        write_atomically(options.plot, picture)
    if options.json:
        print_json(found.to_dict())
    else:
        print(found)
    return OK


def _asked(options: argparse.Namespace) -> tuple[Domain, list[str], dict[str, Mechanism] | None]:
    """The domain, each ε as it was written, and the mechanism of the spec if it is a custom one."""
    if options.spec is not None:
        if options.points is not None or options.rounding is not None:
            raise InputError("--spec describes the whole domain; leave out --points and --rounding.")
        mechanism = load_spec(read_text(options.spec))
        own = [format(mechanism.epsilon_decimal, "f")]
        also: dict[str, Mechanism] | None = {"Custom": mechanism} if isinstance(mechanism, Custom) else None
        return mechanism.domain, own if options.epsilon is None else _epsilons(options.epsilon), also
    need_epsilon(options)
    return domain_of(options), _epsilons(options.epsilon), None


def _epsilons(texts: list[str]) -> list[str]:
    found: list[str] = []
    for text in texts:
        ends = re.fullmatch(r"(.+?)\.\.(.+)", text)
        found += [text] if ends is None else _between(text, ends[1], ends[2])
    return found


def _between(text: str, first: str, last: str) -> list[str]:
    """Equal steps from one ε to another, rounded to three decimals."""
    try:
        low, high = Decimal(first), Decimal(last)
        inside = [str(round(low + (high - low) * number / (_STEPS - 1), 3)) for number in range(1, _STEPS - 1)]
        rising = 0 < low < high
    except (InvalidOperation, ValueError):
        rising = False
    if not rising:
        raise InputError(f"Expected --epsilon as a decimal or LOW..HIGH, got {text!r}; for example --epsilon 0.25..5.")
    return [first, *(each for each in inside if low < Decimal(each) < high), last]
