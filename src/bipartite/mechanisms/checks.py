"""What all constructors and readers of specs check: domains, options, and tickets against ε."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bipartite.domains import Domain, Interval
from bipartite.errors import BrokenPromiseError, DesignError, InputError, Problems, is_one_of, shown
from bipartite.lottery import MAX_TOTAL, TooFewTickets, issue_tickets
from bipartite.lottery.checks import is_whole

if TYPE_CHECKING:
    from bipartite.lottery import Epsilon, Tickets

NULL_HINT = "remove it, or add a 'no answer' value to the domain."


def list_problem(domain: object) -> str | None:
    """Why a list or a tuple cannot be a domain; None for anything else."""
    if not isinstance(domain, (list, tuple)):
        return None
    return (
        f"Expected domain as bp.Items for labels, or bp.Integers for a range, got a {type(domain).__name__}; if all "
        "wrong answers are equally wrong, pass bp.Items(labels)."
    )


def domain_problem(domain: object) -> str | None:
    """Why this cannot be a domain of values; None if it can."""
    if not isinstance(domain, Domain):
        return list_problem(domain) or (
            "Expected domain as bp.Integers, bp.Interval, bp.Cyclic, bp.Points, bp.Items or bp.Product, got "
            f"{type(domain).__name__}; try bp.Integers(18, 90)."
        )
    if domain.only_reports:
        return "Expected domain as values, got the outputs of another mechanism; pass its domain."
    return None


def check_domain(domain: Domain, *, most: int | None = None, instead: str = "") -> None:
    """Refuse anything but a domain of values and, if asked, one of more than ``most``."""
    problem = domain_problem(domain)
    if problem is not None:
        raise InputError(problem)
    if most is not None and len(domain) > most:
        raise DesignError(f"Expected at most {most} values, got {len(domain)}; {instead}.")


def check_line(domain: Domain) -> None:
    """Refuse anything but values on a line."""
    check_domain(domain)
    if domain.wraps:
        raise not_a_line(domain)
    if not domain.has_ends:
        raise DesignError(
            f"Expected domain as bp.Integers or bp.Interval, got {type(domain).__name__}, which has no low and high; "
            "use bp.BRR, bp.GRR, bp.Exponential or bp.Anchored there."
        )


def check_interval(domain: Domain, name: str) -> None:
    """Refuse anything but an interval."""
    check_domain(domain)
    if domain.wraps:
        raise not_a_line(domain)
    if not isinstance(domain, Interval):
        raise DesignError(
            f"Expected domain as bp.Interval for {name}, got {type(domain).__name__}; for the integers 18 to 90 use "
            "bp.Interval(18, 90, points=73)."
        )


def not_a_line(circle: Domain) -> DesignError:
    """The error for a circle where the domain must have a low end, a high end and a mean."""
    return DesignError(
        f"Expected domain as a range of numbers, got {circle!r}, which wraps around and has no ends; use bp.BRR, "
        "bp.GRR, bp.Exponential or bp.Anchored there."
    )


def check_flag(name: str, value: object) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"Expected {name}=True or False, got {shown(value)}.")


def check_one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse an option that is not one of these choices."""
    if not is_one_of(value, choices):
        *others, last = map(repr, choices)
        raise InputError(f"Expected {name}={', '.join(others)} or {last}, got {shown(value)}.")


def check_choice(name: str, value: object, least: int, most: int) -> int:
    """A given integer parameter, refused outside its range."""
    if is_whole(value) and least <= value <= most:
        return int(value)
    raise InputError(
        f"Expected {name} as a whole number from {least} to {most}, got {shown(value)}; leave it out for the best."
    )


def check_options(outside: object, nulls: object, threads: object) -> None:
    """Refuse invalid options of ``privatize``, all in one error."""
    problems = Problems()
    if not is_one_of(outside, ("error", "clip")):
        problems.add(f"Expected outside='error' or 'clip', got {shown(outside)}.")
    if not is_one_of(nulls, ("error", "keep")):
        problems.add(f"Expected nulls='error' or 'keep', got {shown(nulls)}.")
    if not is_whole(threads) or threads < 1:
        problems.add(f"Expected threads as a whole number of at least 1, got {shown(threads)}.")
    problems.raise_if_any(InputError)


def refuse_nulls(nulls: str) -> None:
    """Refuse to pass missing values through: flat categories have no null report."""
    if nulls != "error":
        raise InputError(f"Expected nulls='error', got {shown(nulls)}; {NULL_HINT}")


def tickets_for(budget: Epsilon, near: int, outputs: int, what: str) -> Tickets:
    """The tickets of ``near`` likely outputs among ``outputs``; refused if 2^52 tickets cannot keep ε."""
    tickets = issue_tickets(budget, near, outputs)
    if isinstance(tickets, TooFewTickets):
        raise too_few_tickets(budget, tickets, outputs, what)
    return tickets


def too_few_tickets(budget: Epsilon, why: TooFewTickets, count: int, what: str) -> DesignError:
    """The error for an ε that 2^52 tickets cannot keep for this many values, or whatever ``what`` names."""
    which, other = ("small", "larger") if why is TooFewTickets.EPSILON_TOO_SMALL else ("large", "smaller")
    return DesignError(
        f"ε={budget.text} is too {which} for N={count} {what}: 2^52 tickets cannot keep it exactly; "
        f"use a {other} ε, or fewer {what}."
    )


def check_tickets(budget: Epsilon, tickets: Tickets, m: int, outputs: int) -> None:
    """Refuse tickets of a spec that do not keep its ε."""
    near, far = tickets.near, tickets.far
    problems = Problems()
    if not near > far >= 1 or far & (far - 1):
        problems.add(
            f"Expected near > far ≥ 1 with far a power of two, got near={near}, far={far}; ask for another spec."
        )
    elif (total := tickets.total(m, outputs)) > MAX_TOTAL:
        problems.add(f"Expected at most 2^52 tickets per row, got {total}; ask for another spec.")
    if not budget.allows(near, far):
        problems.add(f"Tickets near={near}, far={far} exceed e^ε for ε={budget.text}; do not report with this spec.")
    problems.raise_if_any(BrokenPromiseError)
