"""The check of SGD that fits a CPU: figure 10 on a small network, in two minutes on two cores.

The paper's network takes hours on a GPU for five seeds. What its trainings show is seen on one hidden layer too, with
20,000 people, 100 steps and three seeds. BRR-SGD is ahead of Laplace noise on the sum by a few points, by three times
as many where that noise is four times as large, and by less than one where the same noise is clamped to the range of
BRR-SGD, which publishes every sign. None of it is private (:mod:`~reproduction.experiments.protocols`).

All have one learning rate. No claim is judged by these rows: the paper's numbers are of its own network.
"""

import pandas as pd

from reproduction.experiments import sgd_readings
from reproduction.experiments.printed import SGD_AHEAD
from reproduction.experiments.sgd import BRR
from reproduction.experiments.sgd_readings import measure, rival

__all__ = ["FULL", "QUICK", "draw", "measure"]

FULL = sgd_readings.FULL.but(
    people=(20_000,),
    held_out=(5_000,),
    batch=(1024,),
    steps=(100,),
    network=("mlp",),
    learning_rate=(0.01,),
    seed=(0, 1, 2),
    epsilon=tuple(SGD_AHEAD),
    mechanism=(BRR, rival(1), rival(4), rival(4, in_half=True)),
)
QUICK = FULL.but(people=(4096,), held_out=(512,), batch=(256,), steps=(30,), seed=(0, 1), epsilon=(0.3,))


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """By how much BRR-SGD is ahead, as for the paper's network."""
    return {"sgd_mlp": sgd_readings.picture(rows)}
