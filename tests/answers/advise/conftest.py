"""What makes advice slow is one linear programme, of which every comparison on a line asks for the solution."""

import pytest

from bipartite.mechanisms.design.unbiased import unbiased_matrix

_solved = {}


def _remembered(size, e, weights):
    """The solution, which depends on nothing else; ``tests/mechanisms`` tests it."""
    asked = size, e, None if weights is None else weights.tobytes()
    if asked not in _solved:
        _solved[asked] = unbiased_matrix(size, e, weights)
    return _solved[asked]


@pytest.fixture(autouse=True)
def _each_programme_once(monkeypatch):
    """Solve each programme once for all tests of advice."""
    monkeypatch.setattr("bipartite.mechanisms.optimal.unbiased_matrix", _remembered)
