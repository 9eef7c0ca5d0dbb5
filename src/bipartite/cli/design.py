"""``bipartite design``: build the mechanism for a purpose, or a named one, and show how precise it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.advise import recommend
from bipartite.answers.advise.candidates import PURPOSES
from bipartite.answers.advise.forecasting import Foreseen, check_n
from bipartite.answers.quality import loss
from bipartite.cli.arguments import (
    add_mechanism,
    announce_proof,
    domain_of,
    mechanism_of,
    need_epsilon,
    prior_of,
    refuse_given,
)
from bipartite.cli.output import OK, print_json, print_table
from bipartite.cli.waiting import announce_search
from bipartite.errors import InputError
from bipartite.files import write_atomically
from bipartite.mechanisms import BRR, GRR, Anchored, Constant, Mechanism
from bipartite.mechanisms.design.m import check_prior
from bipartite.mechanisms.design.m_for_statistics import PEOPLE
from bipartite.verification import verify

if TYPE_CHECKING:
    import argparse

    from bipartite.answers.advise import Recommendation
    from bipartite.mechanisms import Mechanism

_EXAMPLES = """examples:
  bipartite design --integers 18..90 --epsilon 1 --for distribution --output age.json    the spec that clients need
  bipartite design --integers 18..90 --epsilon 1 --for mean --users 20000
  bipartite design --interval 0..200000 --points 401 --epsilon 0.5 --edges padded
  bipartite design --integers 18..90 --epsilon 1 --mechanism anchored

Which mechanism is best depends on what the reports are for: say so with --for. Without it, the mechanism named with
--mechanism is built (default: BRR).
"""
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
_ONE_OF: Final = tuple(each for each in PURPOSES if each != "statistics")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.epilog = _EXAMPLES
    add_mechanism(parser)
    asked = parser.add_argument_group("what the reports are for")
    asked.add_argument(
        "--for",
        dest="purpose",
        choices=_ONE_OF,
        help="build the mechanism recommended for this: release (single values, used as they are), mean, distribution, "
        "categories (the share of each value), map (the share of each place)",
    )
    asked.add_argument("--users", dest="n", metavar="N", type=int, help=f"the number of people (default: {PEOPLE:,})")
    parser.add_argument("--output", metavar="FILE", type=Path, help="write the spec, which clients need, to this file")
    parser.add_argument("--json", action="store_true", help="print one JSON object (schemas/design.json)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Design a mechanism and describe it."""
    people = PEOPLE if options.n is None else check_n(options.n)
    found = None if options.purpose is None else _recommended(options)
    mechanism = mechanism_of(options) if found is None else found.mechanism
    announce_proof(mechanism)
    certificate = verify(mechanism)
    prior = prior_of(options)
    described = {
        "spec": mechanism.to_spec(),
        "spec_sha256": certificate.spec_sha256,
        "values": len(mechanism.domain),
        "epsilon_upper": str(certificate.epsilon_upper),
        "holds": certificate.holds,
        "guarantee": certificate.guarantee,
        **_of_one_report(mechanism, prior, options.epsilon),
        "purpose": options.purpose,
        "people": people,
        **_of_many_reports(mechanism, prior, people),
        "recommendation": None if found is None else str(found),
    }
    if options.output is not None:
        write_atomically(options.output, json.dumps(described["spec"], indent=2) + "\n")
    if options.json:
        print_json(described)
        return OK
    print_table(("", repr(mechanism)), _rows(described))
    print(certificate)
    print(found or "Another mechanism may be better, depending on what the reports are for: add --for.")
    return OK


def _recommended(options: argparse.Namespace) -> Recommendation:
    refuse_given(options, ("spec", "mechanism", "m", "edges"), "--for chooses the mechanism")
    need_epsilon(options)
    domain = domain_of(options)
    announce_search(domain)
    return recommend(domain, options.epsilon, options.purpose, n=options.n, prior=prior_of(options))


def _of_one_report(mechanism: Mechanism, prior: list[float] | None, epsilon: str | None) -> dict[str, Any]:
    """The errors of one report, beside GRR and the constant answer; None if reports are not values."""
    constant = loss(Constant(mechanism.domain, prior=prior), prior).mean
    if mechanism.flat:
        keys = ("outputs", "m", "near_probability", "far_probability", "expected_loss", "worst_loss", "gap")
        return {**dict.fromkeys(keys), "expected_loss_grr": None, "expected_loss_constant": constant}
    # A window has two probabilities; other mechanisms have many.
    window = mechanism.tickets if isinstance(mechanism, BRR) else None
    total, about = mechanism.lottery.total, loss(mechanism, prior)
    return {
        "outputs": len(mechanism.outputs),
        "m": mechanism.m if isinstance(mechanism, BRR) else None,
        "near_probability": None if window is None else window.near / total,
        "far_probability": None if window is None else window.far / total,
        "expected_loss": about.mean,
        "worst_loss": about.worst,
        "gap": mechanism.gap if isinstance(mechanism, Anchored) else None,
        "expected_loss_grr": _loss_of_grr(mechanism, prior, epsilon),
        "expected_loss_constant": constant,
    }


def _of_many_reports(mechanism: Mechanism, prior: list[float] | None, people: int) -> dict[str, float | None]:
    """The errors of estimates; None if the reports cannot tell, or it would take too long to compute."""
    foreseen, size = Foreseen(mechanism), len(mechanism.domain)
    if foreseen.too_large is not None:
        return dict.fromkeys(key for _, key, _ in _ESTIMATED)
    shares = np.full(size, 1 / size) if prior is None else check_prior(prior, size)
    errors = {key: foreseen.errors(of, shares[None, :], people) for _, key, of in _ESTIMATED}
    return {key: None if error is None else float(error[0]) for key, error in errors.items()}


def _loss_of_grr(mechanism: Mechanism, prior: list[float] | None, epsilon: str | None) -> float | None:
    """The expected loss of GRR; None if it cannot be made with this ε."""
    try:
        return loss(GRR(mechanism.domain, epsilon or mechanism.epsilon_decimal), prior).mean
    except InputError:
        return None


def _rows(described: dict[str, Any]) -> list[tuple[str, str]]:
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
