"""Fixtures that several test files share."""

import pytest

from bipartite.lottery.compiled import CompiledLine
from bipartite.lottery.vectorised import VectorisedLine


@pytest.fixture(params=[VectorisedLine, CompiledLine], ids=["numpy", "numba"])
def kernel(request):
    """Each implementation of the bulk draw."""
    return request.param
