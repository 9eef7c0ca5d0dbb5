"""``bipartite report``: read private values, write reports."""

from __future__ import annotations

import itertools
import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.cli.arguments import add_mechanism, add_seed, mechanism_of, source_of
from bipartite.cli.output import NUMBER, OK, Progress, print_json
from bipartite.domains.product import tuple_of, tuple_text
from bipartite.errors import DataError, DataFileError, InputError, OutsideDomainError
from bipartite.mechanisms import Mechanism
from bipartite.mechanisms.categories.cells import cell_bytes, to_cells
from bipartite.texts import escaped

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bipartite.domains import Domain, Outside
    from bipartite.lottery import Source
    from bipartite.mechanisms import Mechanism

_BATCH: Final = 2**16
_BATCH_BYTES: Final = 2**27
_FEW: Final = 5
_EXAMPLES = """examples:
  echo 40 | bipartite report --integers 18..90 --epsilon 1
  bipartite report --spec age.json < ages.txt > reports.txt

Values are read from standard input, one per line, because other users of the machine can see the arguments of a
command, and the shell keeps them in its history. Numbers are read as doubles, and tuples of a product as JSON arrays,
whose reports are quoted as CSV cells. Reports of flat categories (OUE, OLH and others) are printed as in tables: x and
hexadecimal digits, or one whole number. bipartite estimate reads all of these. Reports are written in batches of up to
65,536 lines: when a line is refused, nothing of its batch is written, but earlier batches already are.
A RAPPOR report is drawn from a permanent response that is used only once: every further report about the same value
spends its ε again.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.epilog = _EXAMPLES
    add_mechanism(parser)
    parser.add_argument(
        "--outside",
        choices=["error", "clip"],
        default="error",
        help="refuse values outside the range, or clip them to it",
    )
    parser.add_argument(
        "--nulls",
        choices=["error", "keep"],
        default="error",
        help="refuse empty lines, or keep them (which publishes that they are missing)",
    )
    add_seed(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object per line (schemas/report.json)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Report every line of standard input."""
    mechanism = mechanism_of(options)
    rng = source_of(options)
    if sys.stdin is None:
        raise DataFileError("standard input is closed; pass the values there, one per line.")
    on_set = not mechanism.domain.has_ends and not mechanism.domain.parts
    if on_set and options.outside == "clip":
        raise InputError(
            "--outside clip is for numbers; a set has no ends; leave it out, and repair or remove such values."
        )
    lines = enumerate(sys.stdin, start=1)
    with Progress("reports", None, rate=True) as progress:
        while batch := list(itertools.islice(lines, lines_at_once(mechanism))):
            for report in _report_batch(mechanism, batch, options, rng):
                if options.json:
                    print_json({"report": report})
                else:
                    print("" if report is None else report)
            progress.advance(len(batch))
    return OK


def lines_at_once(mechanism: Mechanism) -> int:
    """The number of lines in a batch: fewer where a report is wide."""
    if not mechanism.flat:
        return _BATCH
    return max(1, min(_BATCH, _BATCH_BYTES // cell_bytes(mechanism)))


def _report_batch(
    mechanism: Mechanism, batch: list[tuple[int, str]], options: argparse.Namespace, rng: Source | None
) -> Iterator[Any]:
    """The reports of these lines in order; None for an empty line that is kept."""
    filled = [(number, text.strip()) for number, text in batch if text.strip()]
    if len(filled) < len(batch) and options.nulls == "error":
        first = next(number for number, text in batch if not text.strip())
        raise DataFileError(
            f"line {first} is empty; remove it, or use --nulls keep, which publishes that it is missing."
        )
    if mechanism.domain.parts:
        return _in_order(batch, iter(_report_tuples(mechanism, mechanism.domain, filled, options, rng)))
    if mechanism.domain.labels is not None:
        return _in_order(batch, iter(_report_labels(mechanism, filled, rng)))
    values = np.array([_number(number, text) for number, text in filled], dtype=np.float64)
    try:
        return _in_order(batch, iter(_draw(mechanism, values, rng, options.outside)))
    except DataError:
        refusal = mechanism.domain.explain(values, options.outside, lambda at: f"line {filled[at][0]}")
        if not mechanism.domain.has_ends:
            what = str(refusal).partition("; ")[0]
            refusal = type(refusal)(
                f"{what}; values are row numbers of the places, counted from 0: repair or remove it."
            )
    raise refusal


def _draw(
    mechanism: Mechanism, values: list[Any] | NDArray[Any], rng: Source | None, outside: Outside = "error"
) -> list[Any]:
    """The reports of values as they are printed: those of flat categories as the cells of a table."""
    reports: Any = mechanism.privatize(values, rng=rng, outside=outside)
    if mechanism.flat:
        cells = to_cells(reports)
        reports = cells if cells.dtype.kind == "i" else cells.astype(str)
    elif isinstance(reports, np.ndarray) and mechanism.outputs.whole:
        reports = reports.astype(np.int64)
    return list(reports.tolist() if isinstance(reports, np.ndarray) else reports)


def _in_order(batch: list[tuple[int, str]], reports: Iterator[Any]) -> Iterator[Any]:
    """The reports, with None for every empty line."""
    return (next(reports) if text.strip() else None for _, text in batch)


def _report_tuples(
    mechanism: Mechanism,
    domain: Domain,
    filled: list[tuple[int, str]],
    options: argparse.Namespace,
    rng: Source | None,
) -> list[Any]:
    """The reports of tuples, which are JSON arrays, one per line."""
    values = [tuple_of(text) for _, text in filled]
    try:
        reports = _draw(mechanism, values, rng, options.outside)
    except DataError:
        number = next(
            number for (number, _), value in zip(filled, values, strict=True) if not _fits(domain, value, options)
        )
    else:
        are_tuples = not mechanism.flat
        return [_quoted(tuple_text(each)) for each in reports] if are_tuples and not options.json else reports
    raise DataFileError(
        f"line {number} is not a JSON array with one value for each of the {len(domain.parts)} parts of {domain}, like "
        f"{tuple_text(domain.decode(0))}; repair or remove it."
    )


def _quoted(text: str) -> str:
    """Text as a quoted CSV cell."""
    return '"' + text.replace('"', '""') + '"'


def _fits(domain: Domain, value: tuple[Any, ...], options: argparse.Namespace) -> bool:
    try:
        domain.encode(value, outside=options.outside)
    except DataError:
        return False
    return True


def _report_labels(mechanism: Mechanism, filled: list[tuple[int, str]], rng: Source | None) -> list[Any]:
    """The reports of labels; labels that are whole numbers are written as numbers."""
    names = {str(label): label for label in mechanism.domain.labels or ()}
    given = [names.get(text) for _, text in filled]
    unknown = [number for (number, _), label in zip(filled, given, strict=True) if label is None]
    if unknown:
        few = ", ".join(map(escaped, itertools.islice(names, _FEW))) + (", …" if len(names) > _FEW else "")
        raise OutsideDomainError(
            f"{len(unknown)} of {len(given)} values cannot be reported: line {unknown[0]} is not one of the labels "
            f"({few}); repair or remove it."
        )
    return _draw(mechanism, given, rng)


def _number(line: int, text: str) -> float:
    if not NUMBER.fullmatch(text):
        raise DataFileError(f"line {line} is not a number; repair or remove it.")
    return float(text)
