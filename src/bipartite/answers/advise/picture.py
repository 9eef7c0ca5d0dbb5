"""A comparison as a picture: bars at one ε, curves at several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from bipartite.answers.advise.measuring import MEASURES
from bipartite.errors import InputError
from bipartite.mechanisms.catalogue import entries
from bipartite.plots import Bar, bars, lines, style
from bipartite.plots.curves import Curve, curves

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bipartite.answers.advise.measuring import Row

_LONGEST_NAME: Final = 25
_SILENCE: Final = {"stroke": style.INK, "stroke_width": 1.2, "stroke_dasharray": "1 3"}


def picture_of(rows: Sequence[Row], measure: str, *, n: int | None) -> str:
    """The picture as SVG."""
    some = [row for row in rows if getattr(row, measure) is not None]
    if not some:
        why = "n=10_000" if MEASURES[measure].of else "other mechanisms"
        why = "a tolerance" if measure == "share_within" else why
        raise InputError(f"No mechanism has a figure for {measure!r}; compare with {why}.")
    title = MEASURES[measure].title
    if n is not None and MEASURES[measure].of:
        title += f", {n:,} people"
    if len({row.epsilon for row in rows}) == 1:
        return _bars(some, measure, f"{title}, ε = {rows[0].epsilon}")
    return _curves(rows, measure, title)


def _highest(rows: Sequence[Row], measure: str) -> float:
    """The scale of those that report values; real-valued reports may lie far outside the range and flatten the rest."""
    wild = {form.label for entry in entries() for form in entry.forms if form.reports == "number"}
    tame = [getattr(row, measure) for row in rows if row.mechanism not in wild]
    return float(max(tame or [getattr(row, measure) for row in rows]))


def _bars(rows: Sequence[Row], measure: str, title: str) -> str:
    if MEASURES[measure].of:
        # Errors differ by orders of magnitude: the better half sets the scale.
        highest = sorted(getattr(row, measure) for row in rows)[len(rows) // 2] * 2
    else:
        highest = _highest(rows, measure)
    drawn = []
    for row in sorted(rows, key=lambda each: float(getattr(each, measure)), reverse=measure == "share_within"):
        value = getattr(row, measure)
        words = f"{value:.1%}" if measure == "share_within" else f"{value:.4g}"
        if value > highest:
            words += ", beyond this picture"
        if row.holds is False:
            words += f" (does not keep ε: spends {row.epsilon_spent:.3g})"
        how = style.GRR_BAR_STYLE if value > highest else _fill(row)
        drawn.append(Bar(_short(row.mechanism), max(0.0, min(value, highest)), words, how))
    return bars(drawn, title)


def _fill(row: Row) -> Mapping[str, Any]:
    if row.kind == "reference":
        return style.SILENCE_STYLE
    if row.holds is False:
        return style.GRR_BAR_STYLE
    return {"fill": style.BRR if row.mechanism.startswith("BRR") else style.BRR_FAR}


def _curves(rows: Sequence[Row], measure: str, title: str) -> str:
    epsilons = list(dict.fromkeys(row.epsilon for row in rows))
    found: dict[str, list[Any]] = {}
    broken = set()
    for row in rows:
        found.setdefault(row.mechanism, []).append(getattr(row, measure))
        if row.holds is False:
            broken.add(row.mechanism)
    whole = {name: y for name, y in found.items() if len(y) == len(epsilons) and None not in y}
    partly = [name for name, y in found.items() if name not in whole and any(each is not None for each in y)]
    logarithmic = bool(MEASURES[measure].of)
    highest = None if logarithmic else _highest([row for row in rows if row.mechanism in whole], measure)
    looks = lines(name for name in whole if not name.startswith("always "))
    drawn = []
    for name, y in whole.items():
        how = looks.get(name, _SILENCE)
        drawn.append(Curve(_short(name) + (" (!)" if name in broken else ""), y, how))
    says = f"{title[0].upper()}{title[1:]} of {len(drawn)} lines against ε, from {epsilons[0]} to {epsilons[-1]}."
    if broken:
        says += f" (!) marks what does not keep ε: {', '.join(sorted(broken))}."
    if partly:
        says += f" Not drawn, because it has no figure at some ε: {', '.join(partly)}."
    return curves(
        [float(each) for each in epsilons],
        drawn,
        across="ε of one report",
        up=title,
        says=says,
        highest=highest,
        logarithmic=logarithmic,
    )


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
