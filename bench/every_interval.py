"""How often every kind of interval holds the truth, for every mechanism of the catalogue that answers.

    python bench/every_interval.py [--unbiased 200] [--default 6] [--only line flat places] [--mechanisms …]

``--unbiased`` repetitions by ``method="inverse"`` where all values can be told apart, and ``--default`` ones as
``bp.estimate`` comes, by likelihood for most lines, which takes a hundred times as long. Lines have 64 values and the
seven shapes of ``error_bars.py``, three pairs of ε and n for unbiased intervals and the middle one for the default.
Flat categories are the same line; places are a grid of 25. A line of output is a mechanism: for each kind of interval
the share that held the truth over all cells, in its worst cell, and the mean width over ± 1.96 of the least standard
error that an unbiased answer can have for that population (of single shares and quantiles: in shares, in values).
"""

from __future__ import annotations

import argparse
import math
import time
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import bipartite as bp
from bipartite.mechanisms import catalogue
from error_bars import SHAPES, Z, efficient, quantile, shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Found = dict[str, list[tuple[float, float]]]

SIZE: Final = 64
PAIRS: Final = ((0.2, 200_000), (1.0, 5_000), (5.0, 300))
# A report of flat categories is a whole set, drawn one by one.
FLAT_PAIRS: Final = ((0.5, 20_000), (1.0, 5_000), (4.0, 300))
# Nothing is estimated from one constant, nor from a matrix that somebody has to give.
LEFT_OUT: Final = ("constant", "custom")


def places() -> Any:  # noqa: ANN401 (bp.Points is loaded when it is asked for)
    """A grid of 25 places, some kilometres apart."""
    north, east = np.divmod(np.arange(25), 5)
    return bp.Points(np.column_stack([48 + north / 20, 2 + east / 20]), metric="haversine")


def forms(kinds: list[str]) -> Iterator[tuple[str, str, Callable[[float], Any]]]:
    """(kind, label, what builds it for an ε) of every form of every mechanism."""
    line, spaced, uniform = bp.Integers(0, SIZE - 1), bp.Interval(0, SIZE - 1, points=SIZE), np.full(SIZE, 1 / SIZE)
    for entry in catalogue.entries():
        if entry.name in LEFT_OUT or entry.family == "regions":
            continue
        for form in entry.forms or (catalogue.Form(entry.name),):
            made = partial(entry.load(), **form.options)
            if entry.name == "rappor":
                made = partial(lambda make, domain, epsilon: make(domain, epsilon_permanent=2 * epsilon), made)
            own = ["flat"] if entry.family == "flat" else ["line", "places"]
            if "line" in own and entry.where == "places":
                own.remove("line")
            if "places" in own and (entry.where not in {"any", "places"} or "edges" in form.options):
                own.remove("places")
            for kind in own:
                domain = places() if kind == "places" else spaced if entry.where == "interval" else line
                prior = {"prior": uniform if kind == "line" else np.full(25, 1 / 25)} if form.prior else {}
                if kind in kinds:
                    yield kind, form.label, partial(made, domain, **prior)


def questions(kind: str, f: Array) -> dict[str, tuple[Any, float, Array | None]]:
    """(what is asked, the truth, the weight of each value where it is linear)."""
    size = len(f)
    at = np.arange(size, dtype=np.float64)
    common = int(np.argmax(f))
    if kind == "places":
        domain = places()
        return {"number": (at, float(f @ at), at), "share": (("bin", domain.decode(common)), float(f[common]), None)}
    up_to, inside = 1.0 * (at <= size // 3), 1.0 * ((at >= size // 5) & (at < size // 2))
    mean = float(f @ at)
    return {
        "mean": ("mean", mean, at),
        "variance": ("variance", float(f @ (at - mean) ** 2), None),
        "up to": (("cdf", size // 3), float(f @ up_to), up_to),
        "range": (("range", size // 5, size // 2 - 1), float(f @ inside), inside),
        "quantile": (("quantile", 0.5), float(quantile(f, 0.5)), None),
        "share": (("bin", common), float(f[common]), None),
    }


def one_cell(kind: str, mechanism: Any, f: Array, people: int, repetitions: int, method: Any) -> Found:  # noqa: ANN401
    """(held, width) of each kind of interval, a pair for each repetition."""
    asked, found = questions(kind, f), defaultdict(list)
    matrix = mechanism.matrix() if not mechanism.flat else None
    rng = np.random.default_rng([people, len(repr(mechanism)), int(1e6 * f[0])])
    units = {
        name: 1.0 if w is None or matrix is None else 2 * Z * efficient(matrix, f, w, people)
        for name, (_, _, w) in asked.items()
    }
    for _ in range(repetitions):
        if matrix is None:
            words = bp.insecure_seed(int(rng.integers(2**31)))
            reports = mechanism.privatize(rng.choice(len(f), people, p=f), rng=words)
            estimate = bp.estimate(mechanism, reports, method=method)
        else:
            estimate = bp.estimate(mechanism, counts=rng.multinomial(people, f @ matrix), method=method)
        for name, (of, truth, _) in asked.items():
            if name == "share" and estimate.bins_note:
                continue
            low, high = estimate.interval(0.95, of=of)
            held = low - 1e-9 <= truth <= high + 1e-9
            found[name].append((float(held), (high - low) / units[name]))
    return found


def told(label: str, method: str, cells: list[Found]) -> str:
    """A line of the table."""
    parts = []
    for name in dict.fromkeys(name for cell in cells for name in cell):
        each = [np.array(cell[name]) for cell in cells if name in cell]
        rates, widths = [float(cell[:, 0].mean()) for cell in each], [float(cell[:, 1].mean()) for cell in each]
        known = [width for width in widths if not math.isnan(width)]
        wide = f"×{np.median(known):.2f}" if known else "no bound"
        parts.append(f"{name} {np.mean(rates):.3f} (worst {min(rates):.2f}, {wide})")
    return f"{label} | {method} | {len(cells)} cells of {len(next(iter(cells[0].values())))} | " + " | ".join(parts)


def main() -> None:
    """A line for every mechanism, twice where unbiased intervals are known."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--unbiased", type=int, default=200)
    parser.add_argument("--default", type=int, default=6)
    parser.add_argument("--only", nargs="+", default=["line", "flat", "places"])
    parser.add_argument("--mechanisms", nargs="+", default=None)
    options = parser.parse_args()
    for method, repetitions in (("inverse", options.unbiased), ("auto", options.default)):
        for kind, label, make in forms(options.only) if repetitions else ():
            if options.mechanisms and label not in options.mechanisms:
                continue
            cells: list[Found] = []
            begun = time.process_time()
            pairs = FLAT_PAIRS if kind == "flat" else PAIRS
            for epsilon, people in pairs if method == "inverse" else pairs[1:2]:
                mechanism = make(epsilon)
                known = bp.identifiability(mechanism) if not mechanism.flat else None
                if method == "inverse" and known is not None and not known.identifiable:
                    continue
                for name in SHAPES:
                    f = shape(name, 25 if kind == "places" else SIZE)
                    cells.append(one_cell(kind, mechanism, f, people, repetitions, method))
            if cells:
                print(told(f"{label}, {kind}", method, cells), f"| {time.process_time() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
