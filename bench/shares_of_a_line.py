"""Shares on a line: fixed scores against scores fitted to all other reports, beside the least error there is.

The error of an unbiased share is at least √((wᵀI⁻¹w − θ²)/n). For each mechanism, ε and number of reports, over
populations and answers (single shares, shares up to a value, ranges): the error over that bound, mean and largest, and
how many intervals of 95 % hold; for fixed scores (``est.unbiased(weights)``) and fitted ones (``est.unbiased(of)``).
And what ``forecast(prior=…)`` promises, over the error found, root mean square over all values.

    python bench/shares_of_a_line.py [surveys]
"""

from __future__ import annotations

import sys

import numpy as np

import bipartite as bp
from bipartite.answers.estimation.identify import identifiability

SIZE = 64
EPSILONS = (1.0, 3.0, 5.0)
PEOPLE = (300, 1000, 20_000)
PARTS = (0.1, 0.22, 0.45, 0.8)
RANGES = ((0.0, 0.1), (0.2, 0.33), (0.33, 0.66), (0.7, 0.9))


def populations() -> dict[str, np.ndarray]:
    """Shapes; the last two played no part when the constant of ``scores.py`` was chosen."""
    at = (np.arange(SIZE) + 0.5) / SIZE
    found = {
        "beta(2, 5)": at * (1 - at) ** 4,
        "two spikes": 0.65 * (np.arange(SIZE) == int(0.22 * SIZE)) + 0.35 * (np.arange(SIZE) == int(0.81 * SIZE)),
        "narrow pair": np.exp(-0.5 * ((np.abs(at - 0.5) - 0.05) / 0.02) ** 2),
        "zipf": 1 / np.arange(1, SIZE + 1) ** 1.2,
        "ends": (np.arange(SIZE) % (SIZE - 1) == 0) / 2,
        "comb": np.tile([0.0, 0, 0, 1, 0, 0, 0, 0], SIZE // 8),
        "heavy tail": 1 / (1 + ((at - 0.3) / 0.03) ** 2),
    }
    return {name: shares / shares.sum() for name, shares in found.items()}


def mechanisms(epsilon: float) -> dict[str, bp.Mechanism]:
    """Mechanisms that tell all values apart."""
    domain = bp.Integers(0, SIZE - 1)
    padded = {f"BRR {m}": bp.BRR(domain, epsilon, m=m, edges="padded") for m in ("cdf", "histogram", "mean")}
    return {
        **padded,
        "GRR": bp.GRR(domain, epsilon),
        "Square Wave": bp.SquareWave(domain, epsilon),
        "Geometric": bp.Geometric(domain, epsilon),
    }


def questions() -> tuple[list[tuple], np.ndarray]:
    """What is asked, in words and as weights."""
    values = np.arange(SIZE)
    asked = [("bin", int(part * SIZE)) for part in PARTS]
    asked += [("cdf", int(part * SIZE)) for part in PARTS]
    asked += [("range", int(low * SIZE), int(high * SIZE) - 1) for low, high in RANGES]
    ends = [(0, of[1]) if of[0] == "cdf" else (of[1], of[-1]) for of in asked]
    return asked, np.array([(values >= first) & (values <= last) for first, last in ends], dtype=float)


def main(surveys: int) -> None:
    """Print the table."""
    rng = np.random.default_rng(19)
    asked, w = questions()
    print(
        f"{SIZE} values, {surveys} surveys a population; error over the bound: mean, largest; held of 95 %: mean, least"
    )
    print(f"{'':27}{'fixed scores':30}{'fitted scores':30}forecast")
    for epsilon in EPSILONS:
        for name, mechanism in mechanisms(epsilon).items():
            for people in PEOPLE:
                rows, promised = [], []
                for shares in populations().values():
                    law = mechanism.lottery.channel().forward(shares)
                    best = identifiability(mechanism).scores(law).of(w)
                    truth = w @ shares
                    bound = np.sqrt(((best - truth[:, None]) ** 2 @ law) / people)
                    off, held, missed = [], [], []
                    for counts in rng.multinomial(people, law / law.sum(), surveys):
                        est = bp.estimate(mechanism, counts=counts, method="inverse")
                        each = [[est.unbiased(row).value for row in w], [est.unbiased(of).value for of in asked]]
                        ends = np.array([[est.interval(of=row) for row in w], [est.interval(of=of) for of in asked]])
                        off.append(np.array(each) - truth)
                        held.append((ends[..., 0] <= truth) & (truth <= ends[..., 1]))
                        missed.append(((est.frequencies - shares) ** 2).mean())
                    rows.append((np.sqrt(np.mean(np.square(off), axis=0)) / bound, np.mean(held, axis=0)))
                    promised.append(bp.forecast(mechanism, people, "share", shares) / np.sqrt(np.mean(missed)))
                ratio, kept = (np.concatenate([row[part] for row in rows], axis=1) for part in (0, 1))
                cells = "".join(
                    f"{ratio[at].mean():5.2f} {ratio[at].max():5.2f}   {kept[at].mean():.3f} {kept[at].min():.3f}     "
                    for at in (0, 1)
                )
                print(f"{epsilon:3g} {name:14}{people:8} {cells}{min(promised):.2f}–{max(promised):.2f}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
