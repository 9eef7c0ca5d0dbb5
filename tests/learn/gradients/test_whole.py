import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from bipartite.learn.gradients.whole import MOST_STEPS, whole_rows, whole_sum

numbers = st.floats(allow_nan=True, allow_infinity=True, width=32)


@given(
    st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=5),
    st.floats(1e-3, 1e3),
    st.integers(1, MOST_STEPS),
)
def test_no_row_is_longer_than_the_noise_is_for(rows, clip, steps):
    found = whole_rows(torch.tensor(rows, dtype=torch.float32), clip, steps)
    for row in found.tolist():
        whole = [int(each) for each in row]
        assert whole == row
        # In Python's whole numbers, without any rounding.
        assert sum(each**2 for each in whole) <= steps**2


def test_rows_within_the_bound_are_only_rounded_and_others_only_shortened():
    rows = torch.tensor([[0.3, -0.4], [3.0, -4.0], [torch.nan, 1.0], [torch.inf, 0.0]], dtype=torch.float64)
    found = whole_rows(rows, 1.0, 1_000_000)
    np.testing.assert_allclose(found[:2].numpy(), [[300_000, -400_000], [600_000, -800_000]], atol=1)
    assert found[2:].abs().sum() == 0


def test_a_row_depends_on_its_own_person_only_and_sums_are_exact():
    torch.manual_seed(3)
    rows = torch.randn(300, 40)
    together = whole_rows(rows, 0.5, MOST_STEPS)
    alone = torch.cat([whole_rows(row[None], 0.5, MOST_STEPS) for row in rows])
    assert torch.equal(together, alone)
    assert whole_sum(together).tolist() == [sum(int(each) for each in column) for column in together.T.tolist()]
