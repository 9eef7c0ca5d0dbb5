"""The bar of a design ends where the design does."""

import numpy as np
import pytest

from bipartite import BRR, Integers, Points
from bipartite.cli import design
from bipartite.lottery import kernel


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("m", ["safe", "best", "7"])
def test_the_rows_of_a_design_are_those_that_it_tells_of(monkeypatch, m, many):
    for module in (design, kernel):
        monkeypatch.setattr(module, "PREPARE_FROM", 60 if many else 61)
    places = Points(np.random.default_rng(1).uniform(0, 1, (60, 2)))
    told = []
    BRR(places, 1, m=int(m) if m.isdecimal() else m, progress=told.append)
    # A design that searches nothing and finds nothing tells of nothing: its bar is never drawn.
    assert sum(told) == (0 if m == "7" and not many else design._rows_of_design(places, m))
    assert design._rows_of_design(Integers(1, 60), m) == 60
