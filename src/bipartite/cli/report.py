"""``bipartite report``: private values in, reports out."""

from __future__ import annotations

import itertools
import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.cli.arguments import add_mechanism, add_seed, mechanism_of, source_of
from bipartite.cli.columns import NUMBER
from bipartite.cli.output import OK, Progress, print_json
from bipartite.domains import Product, SetDomain
from bipartite.domains.product_codec import tuple_of, tuple_text
from bipartite.errors import DataError, DataFileError, InputError, OutsideDomainError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from bipartite.lottery import Source
    from bipartite.mechanisms import Mechanism

_BATCH: Final = 2**16
_FEW: Final = 5
_EXAMPLES = """examples:
  echo 40 | bipartite report --integers 18..90 --epsilon 1
  bipartite report --spec age.json < ages.txt > reports.txt

Values come from standard input, one a line, because arguments of a command can be read by other users of the machine
and stay in the shell's history. Numbers are read as doubles, tuples of a product as JSON arrays, whose reports are
quoted as cells of CSV, in which form bipartite estimate reads them. Reports are written in batches of 65,536
lines: when a line is refused, nothing of its batch is written, and the batches before it are out.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Say what this command takes."""
    parser.epilog = _EXAMPLES
    add_mechanism(parser)
    parser.add_argument(
        "--outside", choices=["error", "clip"], default="error", help="refuse values outside, or clamp them"
    )
    parser.add_argument(
        "--nulls", choices=["error", "keep"], default="error", help="refuse empty lines, or keep (and so publish) them"
    )
    add_seed(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object a line (schemas/report.json)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Report every line of standard input."""
    mechanism = mechanism_of(options)
    rng = source_of(options)
    if sys.stdin is None:
        msg = "standard input is closed; give the values there, one a line."
        raise DataFileError(msg)
    on_set = isinstance(mechanism.domain, SetDomain) and not isinstance(mechanism.domain, Product)
    if on_set and options.outside == "clip":
        msg = "--outside clip is for numbers: a set has no ends; leave it out, and repair or remove what is not in it."
        raise InputError(msg)
    lines = enumerate(sys.stdin, start=1)
    with Progress("reports", None) as progress:
        while batch := list(itertools.islice(lines, _BATCH)):
            for report in _report_batch(mechanism, batch, options, rng):
                if options.json:
                    print_json({"report": report})
                else:
                    print("" if report is None else report)
            progress.advance(len(batch))
    return OK


def _report_batch(
    mechanism: Mechanism, batch: list[tuple[int, str]], options: argparse.Namespace, rng: Source | None
) -> Iterator[Any]:
    """The reports of some lines, in order; None for an empty line that is kept."""
    filled = [(number, text.strip()) for number, text in batch if text.strip()]
    if len(filled) < len(batch) and options.nulls == "error":
        first = next(number for number, text in batch if not text.strip())
        msg = f"line {first} is empty; remove it, or use --nulls keep, which publishes that it is missing."
        raise DataFileError(msg)
    if isinstance(mechanism.domain, Product):
        return _in_order(batch, iter(_report_tuples(mechanism, mechanism.domain, filled, options, rng)))
    if mechanism.domain.labels is not None:
        return _in_order(batch, iter(_report_labels(mechanism, filled, rng)))
    values = np.array([_number(number, text) for number, text in filled], dtype=np.float64)
    try:
        reports = mechanism.privatize(values, rng=rng, outside=options.outside)
    except DataError:
        refusal = mechanism.domain.explain(values, options.outside, lambda at: f"line {filled[at][0]}")
        if isinstance(mechanism.domain, SetDomain):
            what = str(refusal).partition("; ")[0]
            refusal = type(refusal)(f"{what}; values are row numbers of the places, from 0: repair or remove it.")
    else:
        found = reports.astype(np.int64).tolist() if mechanism.outputs.whole else reports.tolist()
        return _in_order(batch, iter(found))
    raise refusal


def _in_order(batch: list[tuple[int, str]], reports: Iterator[Any]) -> Iterator[Any]:
    """The reports with None where a line was empty."""
    return (next(reports) if text.strip() else None for _, text in batch)


def _report_tuples(
    mechanism: Mechanism,
    domain: Product,
    filled: list[tuple[int, str]],
    options: argparse.Namespace,
    rng: Source | None,
) -> list[Any]:
    """The reports of tuples, each a JSON array on a line of its own."""
    values = [tuple_of(text) for _, text in filled]
    try:
        reports = mechanism.privatize(values, rng=rng, outside=options.outside)
    except DataError:
        number = next(
            number for (number, _), value in zip(filled, values, strict=True) if not _fits(domain, value, options)
        )
    else:
        return reports if options.json else [_quoted(tuple_text(report)) for report in reports]
    msg = (
        f"line {number} is not a JSON array with a value of each of the {len(domain.parts)} parts of {domain}, such as "
        f"{tuple_text(domain.decode(0))}; repair or remove it."
    )
    raise DataFileError(msg)


def _quoted(text: str) -> str:
    """A cell of CSV."""
    return '"' + text.replace('"', '""') + '"'


def _fits(domain: Product, value: tuple[Any, ...], options: argparse.Namespace) -> bool:
    try:
        domain.encode(value, outside=options.outside)
    except DataError:
        return False
    return True


def _report_labels(mechanism: Mechanism, filled: list[tuple[int, str]], rng: Source | None) -> list[Any]:
    """The reports of labels; labels that are whole numbers are written as such."""
    names = {str(label): label for label in mechanism.domain.labels or ()}
    given = [names.get(text) for _, text in filled]
    unknown = [number for (number, _), label in zip(filled, given, strict=True) if label is None]
    if unknown:
        few = ", ".join(itertools.islice(names, _FEW)) + (", …" if len(names) > _FEW else "")
        msg = (
            f"{len(unknown)} of {len(given)} values cannot be reported: line {unknown[0]} is not one of the labels "
            f"({few}); repair or remove it."
        )
        raise OutsideDomainError(msg)
    reports: list[Any] = mechanism.privatize(given, rng=rng)
    return reports


def _number(line: int, text: str) -> float:
    if not NUMBER.fullmatch(text):
        msg = f"line {line} is not a number; repair or remove it."
        raise DataFileError(msg)
    return float(text)
