"""How often intervals around a circle hold: ``python bench/circles.py [samples] [fitted]``; seeded.

People are drawn from each shape, their reports from the exact law. Directions and lengths take minutes, and so do the
share of an arc across midnight, of one hour, and the median from noon, where they are unbiased. With ``fitted`` arcs
and medians of fitted curves are asked for as well, which takes hours.
"""

from __future__ import annotations

import itertools
import sys

import numpy as np

import bipartite as bp

SIZE = 24
AT = np.arange(SIZE)
ANGLES = 2 * np.pi * AT / SIZE
NIGHT = np.isin(AT, [22, 23, 0, 1, 2, 3, 4])
NONE = 1e-9  # a length that only rounding makes
EPSILONS, PEOPLE = (0.5, 1, 2, 4), (1_000, 10_000, 100_000)


def bell(middle: float, strength: float) -> np.ndarray:
    """Shares that fall from one hour on, to both sides."""
    shares = np.exp(strength * np.cos(ANGLES - 2 * np.pi * middle / SIZE))
    return shares / shares.sum()


SHAPES = {
    "uniform": np.full(SIZE, 1 / SIZE),
    "across midnight": bell(0.4, 3),
    "broad": bell(14, 0.4),
    "two peaks": (bell(8, 6) + bell(18, 6)) / 2,
    "opposite": (bell(3, 4) + bell(15, 4)) / 2,
    "office": np.where(np.isin(AT, range(8, 17)), 0.8 / 9, 0.2 / 15),
}


def holds(interval: tuple[float, float], value: float) -> bool:
    """Whether an arc holds a number."""
    low, high = interval
    return high - low >= SIZE or (value - low) % SIZE <= (high - low) % SIZE


def main(samples: int, *, fitted: bool) -> None:
    """Print a row for each mechanism, ε, shape and number of people."""
    rng = np.random.default_rng(20261116)
    hours = bp.Cyclic(SIZE)
    print("mechanism;epsilon;shape;people;direction;undetermined;length;arc;share;median")
    for epsilon, (shape, shares), people in itertools.product(EPSILONS, SHAPES.items(), PEOPLE):
        vector = complex(shares @ np.exp(1j * ANGLES))
        mean, length = np.angle(vector) / (2 * np.pi) * SIZE % SIZE, abs(vector)
        median = (12 + int(np.searchsorted(np.roll(shares, -12).cumsum(), 0.5))) % SIZE
        for mechanism in (bp.BRR(hours, epsilon), bp.BRR(hours, epsilon, m="histogram"), bp.GRR(hours, epsilon)):
            law, found = shares @ mechanism.matrix(), []
            unbiased = isinstance(mechanism, bp.GRR)
            for _ in range(samples):
                # The counts of reports of people who are drawn independently are exactly multinomial.
                counts = rng.multinomial(people, law)
                est = bp.estimate(mechanism, counts=counts, method="inverse" if unbiased else "auto")
                arc, ends = est.interval(of="circular_mean"), est.interval(of="resultant_length")
                undetermined = "not determined" in arc.note
                # Where no direction is preferred, any that is claimed is wrong.
                right = undetermined or (length > NONE and holds(arc, mean))
                row = [right, undetermined, ends.low <= length <= ends.high, np.nan, np.nan, np.nan]
                if unbiased or fitted:
                    low, high = est.interval(of=("range", 22, 4))
                    row[3] = low <= shares[NIGHT].sum() <= high
                    row[5] = holds(est.interval(of=("quantile", 0.5, 12)), median)
                if unbiased:
                    low, high = est.interval(of=("bin", 3))
                    row[4] = low <= shares[3] <= high
                found.append(row)
            figures = ";".join(f"{each:.3f}" for each in np.mean(found, axis=0))
            print(f"{mechanism!r};{epsilon};{shape};{people};{figures}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400, fitted="fitted" in sys.argv[2:])
