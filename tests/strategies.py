"""Hypothesis strategies that several test files share."""

from decimal import Decimal

from hypothesis import strategies as st

from bipartite import BRR, Integers, Interval
from bipartite.errors import DesignError

# ε that people use, as decimals of a few digits, and now and then an odd one.
epsilons = st.one_of(
    st.sampled_from(["0.01", "0.1", "0.5", "1", "1.5", "2", "3", "5", "8", "12"]),
    st.decimals(min_value=Decimal("0.001"), max_value=Decimal(12), places=6).filter(bool).map(str),
)
sizes = st.one_of(st.integers(2, 40), st.integers(2, 2**31), st.sampled_from([2, 3, 73, 2**20, 2**31 - 1, 2**31]))


@st.composite
def integer_domains(draw, sizes=sizes):
    size = draw(sizes)
    low = draw(st.integers(-(2**52), 2**52 - size))
    return Integers(low, low + size - 1)


@st.composite
def interval_domains(draw):
    low = draw(st.floats(-1e6, 1e6))
    width = draw(st.floats(1e-3, 1e6))
    return Interval(
        low, low + width, points=draw(st.integers(2, 500)), rounding=draw(st.sampled_from(["nearest", "random"]))
    )


small_lines = st.one_of(
    integer_domains(st.integers(2, 40)), st.builds(lambda n: Interval(-1, 1, points=n), st.integers(2, 40))
)
line_domains = st.one_of(integer_domains(), interval_domains())


@st.composite
def brr(draw, domains=line_domains):
    """Any BRR that can be built: safe, best or given m, clamped or padded edges."""
    domain = draw(domains)
    edges = draw(st.sampled_from(["clamped", "padded"]))
    m = draw(st.one_of(st.sampled_from(["safe", "best"]), st.integers(1, len(domain) - 1)))
    if edges == "padded" and isinstance(m, int):
        m |= 1
    epsilon = draw(epsilons)
    try:
        return BRR(domain, epsilon, m=m, edges=edges)
    except DesignError:
        # Too small an ε for so many values: the refusal is tested elsewhere.
        return BRR(domain, "3", m=m, edges=edges)
