"""Fixtures that several test files share."""

import sys

import pytest

from bipartite.lottery.compiled import line_kernel
from tests.postgresql import postgresql, postgresql_server, postgresql_url  # noqa: F401 (fixtures)


def numpy_kernel(deal):
    """The kernel of a deal in NumPy."""
    return deal.draw_block


@pytest.fixture(params=[numpy_kernel, line_kernel], ids=["numpy", "numba"])
def kernel(request):
    """Each implementation of the bulk draw on a line."""
    return request.param


@pytest.fixture(autouse=True)
def _figures_are_closed():
    """Pyplot keeps every figure until it is closed, and warns of many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
