"""A comparison as a text table: everything at one ε, one table per measure at several."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

from bipartite.answers.advise.rows import MEASURES
from bipartite.texts import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.answers.advise.rows import Row

_LEFT_OUT: Final = {"median_loss", "share_within"}  # not in tables per measure


def table_of(rows: Sequence[Row], *, n: int | None, tolerance: float | None) -> list[str]:
    """The table as lines, with the notes below it."""
    several = len({row.epsilon for row in rows}) > 1
    body = _several(rows, n) if several else _single(rows, n, tolerance)
    return [*body, *_notes(rows)]


def _single(rows: Sequence[Row], n: int | None, tolerance: float | None) -> list[str]:
    shown = [column for column in MEASURES if any(getattr(row, column) is not None for row in rows)]
    names = {column: words.short for column, words in MEASURES.items()}
    if tolerance is not None:
        names["share_within"] += f" {tolerance:g}"
    header = [f"ε = {rows[0].epsilon}", "ε spent", *(names[column] for column in shown), "shares"]
    lines = [header]
    for row in _with_figures(rows):
        identifiable = {None: "", True: "yes", False: "no"}[row.identifiable]
        cells = [_cell(getattr(row, column), share=column == "share_within") for column in shown]
        lines.append([_name(row), _cell(row.epsilon_spent), *cells, identifiable])
    about = [
        "expected, median, worst: the error of one release; shares: whether the share of each value can be estimated"
    ]
    if n is not None:
        about.append(f"±: standard errors of estimates from {n:,} people")
    return [Table(lines), *about]


def _several(rows: Sequence[Row], n: int | None) -> list[str]:
    epsilons = list(dict.fromkeys(row.epsilon for row in rows))
    known = {(row.mechanism, row.epsilon): row for row in rows}
    found: list[str] = []
    for column, words in MEASURES.items():
        if column in _LEFT_OUT:
            continue
        lines = [[words.title, *(f"ε={epsilon}" for epsilon in epsilons)]]
        for name in dict.fromkeys(row.mechanism for row in rows):
            here = [known.get((name, epsilon)) for epsilon in epsilons]
            cells = [_cell(None if row is None else getattr(row, column)) for row in here]
            marked = any(row is not None and row.holds is False for row in here)
            if any(cells):
                lines.append([name + (" (!)" if marked else ""), *cells])
        if len(lines) > 1:
            people = f"for {n:,} people" if n is not None and words.of else ""
            found += [*([people] if people else []), Table(lines), ""]
    return found[:-1]


def _with_figures(rows: Sequence[Row]) -> list[Row]:
    """Rows with figures; the others appear only in the notes."""
    return [row for row in rows if row.epsilon_spent is not None or row.expected_loss is not None]


def _notes(rows: Sequence[Row]) -> list[str]:
    """Each note once, with the rows and the ε that it applies to."""
    epsilons = {row.epsilon for row in rows}
    said: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        if row.note and row.kind == "mechanism":
            said.setdefault(row.note, {}).setdefault(row.mechanism, []).append(row.epsilon)
    lines = []
    for note, about in said.items():
        for where, names in itertools.groupby(about, about.__getitem__):
            at = "" if len(where) == len(epsilons) else f" at ε = {where[0]}" + _up_to(where)
            lines.append(f"- {'; '.join(names)}{at}: {note}")
    return ["", *lines] if lines else []


def _up_to(epsilons: Sequence[str]) -> str:
    return "" if len(epsilons) == 1 else f" to {epsilons[-1]}"


def _name(row: Row) -> str:
    return row.mechanism + (" (!)" if row.holds is False else "")


def _cell(value: float | None, *, share: bool = False) -> str:
    if value is None:
        return ""
    if share:
        return f"{value:.1%}"
    return f"{value:.4g}" if abs(value) < 10_000 else f"{value:.0f}"  # noqa: PLR2004
