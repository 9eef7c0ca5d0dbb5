"""How estimates are shown: tables for people, CSV and JSON for programs."""

from __future__ import annotations

import csv
import io
import math
import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.pictures import names_of
from bipartite.cli.output import print_table
from bipartite.domains import LineDomain
from bipartite.errors import DesignError

if TYPE_CHECKING:
    from bipartite.answers.estimation import Estimate

_FEW_VALUES: Final = 20
_LARGEST: Final = 10


def as_json(estimate: Estimate, confidence: float) -> dict[str, Any]:
    """The answers of one group as JSON values."""
    known = estimate.identifiability
    line = isinstance(estimate.mechanism.domain, LineDomain)
    return {
        "people": estimate.people,
        "effective_people": estimate.effective_people,
        "of_sample": estimate.of_sample,
        "method": estimate.method,
        "reason": estimate.reason,
        "identifiable": None if known is None else known.identifiable,
        "not_identifiable": None if known is None or known.identifiable else str(known),
        "mean": _number(estimate, "mean", confidence) if line else None,
        "median": _number(estimate, "median", confidence) if line else None,
        "shares": [
            dict(zip(_COLUMNS, (value, share, _finite(error), low, high), strict=True))
            for value, share, error, low, high in _rows(estimate, confidence)
        ],
    }


_COLUMNS: Final = ("value", "share", "standard_error", "low", "high")


def _number(estimate: Estimate, of: str, confidence: float) -> dict[str, Any]:
    interval = estimate.interval(confidence, of=of)
    return {
        "value": estimate.mean if of == "mean" else estimate.median,
        "standard_error": _finite(estimate.standard_error("mean")) if of == "mean" else None,
        "low": interval.low,
        "high": interval.high,
        "note": interval.note,
    }


def _rows(estimate: Estimate, confidence: float) -> list[tuple[Any, ...]]:
    """(value, share, error, low, high) of every value; the last three None where they are too many to compute."""
    shares = (estimate.mechanism.domain.to_numpy().tolist(), estimate.frequencies.tolist())
    try:
        errors = estimate.standard_errors.tolist()
    except DesignError:
        return [(value, share, None, None, None) for value, share in zip(*shares, strict=True)]
    low, high = (end.tolist() for end in estimate.share_intervals(confidence))
    return list(zip(*shares, errors, low, high, strict=True))


def _finite(error: float | None) -> float | None:
    return error if error is not None and math.isfinite(error) else None


def as_csv(found: dict[str | None, Estimate], confidence: float, *, grouped: bool) -> str:
    """A row for every value of every group; an error that is not known is empty."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow((["group"] if grouped else []) + list(_COLUMNS))
    for label, estimate in found.items():
        for value, share, error, low, high in _rows(estimate, confidence):
            known = "" if _finite(error) is None else error
            writer.writerow(([label] if grouped else []) + [value, share, known, low, high])
    return written.getvalue()


def warn(found: dict[str | None, Estimate], where: str = "") -> None:
    """Say on stderr which reports cannot have come from their mechanism; the text for people says so itself."""
    for label, estimate in found.items():
        if estimate.doubt:
            place = ", ".join(each for each in (where, label) if each)
            print(f"bipartite: {place + ': ' if place else ''}{estimate.doubt}", file=sys.stderr)


def show(found: dict[str | None, Estimate], confidence: float) -> None:
    """Print the answers of every group."""
    for number, (label, estimate) in enumerate(found.items()):
        if number:
            print()
        print(estimate.summary(confidence) if label is None else f"{label}: {estimate.summary(confidence)}")
        _show_shares(estimate, confidence)


def _show_shares(estimate: Estimate, confidence: float) -> None:
    """A table of few values, or of the largest shares of named ones."""
    size = len(estimate.mechanism.domain)
    line = isinstance(estimate.mechanism.domain, LineDomain)
    if line and size > _FEW_VALUES:
        return
    shares = _rows(estimate, confidence)
    names = names_of(estimate.mechanism.domain)
    order: list[int] = list(range(size))
    if size > _FEW_VALUES:
        order = np.argsort(-estimate.frequencies, kind="stable")[:_LARGEST].tolist()
        print(f"  the {_LARGEST} largest of {size:,} shares")
    print_table(
        ("  value", "share", f"{100 * confidence:g} % interval"),
        [(f"  {names[at]}", f"{shares[at][1]:.2%}", _interval(*shares[at][2:])) for at in order],
    )
    # Others are cut at 0 and 1.
    if any(shares[at][2] is not None and (shares[at][3] < 0 or shares[at][4] > 1) for at in order):
        print(
            "  an interval that lies wholly outside 0 % to 100 % is left as it is: the estimate is unbiased, and the "
            "sample was unlucky"
        )


def _interval(error: float | None, low: float, high: float) -> str:
    if error is None:
        return "not computed"
    return "cannot be known" if math.isinf(error) else f"{low:.2%} to {high:.2%}"
