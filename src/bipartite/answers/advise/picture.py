"""A comparison as a picture: bars at one ε, curves at several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from bipartite.answers.advise.measuring import MEASURES
from bipartite.errors import InputError, shown
from bipartite.mechanisms.catalogue import entries
from bipartite.plots.figure import WIDTH, axes, describe
from bipartite.plots.looks import BLUE, GREY, INK, PALE, looks_of
from bipartite.plots.named import curves
from bipartite.plots.whiskers import SMALL, name_rows, say
from bipartite.plots.whiskers import shortened as short

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

    from bipartite.answers.advise.measuring import Row

_LIMIT: Final = 1.04  # of the highest bar or curve: the end of the axis


def plot_comparison(
    rows: Sequence[Row], measure: str, ax: Axes | None, mechanisms: Iterable[str] | None, *, n: int | None
) -> Axes:
    """Draw one measure of some mechanisms, or of all."""
    rows = rows if mechanisms is None else _selected(rows, mechanisms)
    some = [row for row in rows if getattr(row, measure) is not None]
    if not some:
        why = "n=10_000" if MEASURES[measure].of else "other mechanisms"
        why = "a tolerance" if measure == "share_within" else why
        raise InputError(f"No mechanism has a figure for {measure!r}; compare with {why}.")
    title = MEASURES[measure].title
    if n is not None and MEASURES[measure].of:
        title += f", {n:,} people"
    if len({row.epsilon for row in rows}) == 1:
        return _bars(some, measure, f"{title}, ε = {rows[0].epsilon}", ax)
    return _curves(rows, measure, title, ax)


def _selected(rows: Sequence[Row], mechanisms: Iterable[str]) -> list[Row]:
    wanted = [mechanisms] if isinstance(mechanisms, str) else list(mechanisms)
    known = dict.fromkeys(row.mechanism for row in rows)
    unknown = [name for name in wanted if name not in known]
    if unknown or not wanted:
        raise InputError(
            f"Expected mechanisms as some of {', '.join(map(repr, known))}, got {shown(unknown or wanted)}."
        )
    return [row for row in rows if row.mechanism in wanted]


def _highest(rows: Sequence[Row], measure: str) -> float:
    """The scale of those that report values; real-valued reports may lie far outside the range and flatten the rest."""
    wild = {form.label for entry in entries() for form in entry.forms if form.reports == "number"}
    tame = [getattr(row, measure) for row in rows if row.mechanism not in wild]
    return float(max(tame or [getattr(row, measure) for row in rows])) or 1.0


def _bars(rows: Sequence[Row], measure: str, title: str, ax: Axes | None) -> Axes:
    if MEASURES[measure].of:
        # Errors differ by orders of magnitude: the better half sets the scale.
        highest = sorted(getattr(row, measure) for row in rows)[len(rows) // 2] * 2 or 1.0
    else:
        highest = _highest(rows, measure)
    rows = sorted(rows, key=lambda each: float(getattr(each, measure)), reverse=measure == "share_within")
    said = []
    with axes(ax, (WIDTH, 0.7 + 0.22 * len(rows))) as on:
        for y, row in enumerate(rows):
            value = getattr(row, measure)
            words = f"{value:.1%}" if measure == "share_within" else f"{value:.4g}"
            words += ", beyond this picture" * (value > highest)
            if row.holds is False:
                words += f" (does not keep ε: spends {row.epsilon_spent:.3g})"
            length = max(0.0, min(value, highest))
            on.barh(-y, length, height=0.7, **_fill(row, beyond=value > highest))
            on.annotate(words, (length, -y), (4, 0), textcoords="offset points", va="center", fontsize=SMALL)
            said.append(f"{row.mechanism} {words}")
        name_rows(on, [-y for y in range(len(rows))], [row.mechanism for row in rows])
        on.set(xlim=(0, _LIMIT * highest), xlabel=title)
        on.xaxis.set_major_formatter(lambda value, _: say(value))
        return describe(on, f"{title}: {'; '.join(said)}.")


def _fill(row: Row, *, beyond: bool) -> dict[str, Any]:
    if row.kind == "reference" and not beyond:
        return {"facecolor": "none", "edgecolor": INK, "linestyle": ":"}
    if beyond or row.holds is False:
        return {"facecolor": "none", "edgecolor": GREY, "hatch": "////"}
    return {"color": BLUE if row.mechanism.startswith("BRR") else PALE}


def _curves(rows: Sequence[Row], measure: str, title: str, ax: Axes | None) -> Axes:
    epsilons = list(dict.fromkeys(row.epsilon for row in rows))
    found: dict[str, list[Any]] = {}
    for row in rows:
        found.setdefault(row.mechanism, []).append(getattr(row, measure))
    broken = {row.mechanism for row in rows if row.holds is False}
    whole = {name: y for name, y in found.items() if len(y) == len(epsilons) and None not in y}
    partly = [name for name, y in found.items() if name not in whole and any(each is not None for each in y)]
    notes = []
    if broken:
        notes.append(f"(!) marks what does not keep ε: {', '.join(sorted(broken))}")
    if partly:
        notes.append(f"Not drawn, because it has no figure at some ε: {', '.join(partly)}")
    with axes(ax, (WIDTH, max(3.4, 0.7 + 0.17 * len(whole)))) as on:
        from matplotlib.ticker import LogLocator  # noqa: PLC0415 (optional)

        logarithmic = bool(MEASURES[measure].of)
        highest = None if logarithmic else _LIMIT * _highest([row for row in rows if row.mechanism in whole], measure)
        above = [name for name, y in whole.items() if highest is not None and max(y) > highest]
        if above:
            notes.append(f"Beyond this picture at some ε: {', '.join(above)}")
        if logarithmic:
            on.set_yscale("log")
        else:
            on.set_ylim(0, highest)
        looks, shown = looks_of(whole), {name: short(name) + " (!)" * (name in broken) for name in whole}
        curves(
            on,
            [float(each) for each in epsilons],
            {shown[name]: y for name, y in whole.items()},
            looks={shown[name]: look for name, look in looks.items()},
            highest=highest,
        )
        on.set(xlabel="ε of one report", ylabel=title.replace(", ", "\n"))
        if logarithmic:
            on.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            on.minorticks_off()
        on.yaxis.set_major_formatter(lambda value, _: say(value))
        says = f"{title[0].upper()}{title[1:]} of {len(whole)} lines against ε, from {epsilons[0]} to {epsilons[-1]}."
        last = "; ".join(f"{name} {y[-1]:.4g}" for name, y in whole.items())
        says = " ".join([says, f"At ε = {epsilons[-1]}: {last}.", *(f"{note}." for note in notes)])
        return describe(on, says, notes=notes)
