"""What estimates of one mechanism share changes none of them."""

import numpy as np
import pytest

from bipartite import BRR, GRR, Exponential, Integers, estimate
from bipartite.answers.estimation import source as module
from bipartite.answers.estimation.source import prepared


def answers(mechanism, counts):
    est = estimate(mechanism, counts=counts)
    asked = ["mean", "variance", "median", ("cdf", 5), ("bin", 2)]
    return [tuple(est.ask(of).ci()) for of in asked]


@pytest.mark.grid(2)
@pytest.mark.parametrize(
    "mechanism",
    [
        BRR(Integers(0, 9), 1, edges="padded"),
        BRR(Integers(0, 9), 1),
        GRR(Integers(0, 9), 2),
        Exponential(Integers(0, 9), 1),
    ],
    ids=["padded", "clamped", "grr", "exponential"],
)
def test_answers_do_not_depend_on_what_was_asked_before(mechanism):
    generator = np.random.default_rng(1)
    law = np.full(len(mechanism.domain), 1 / len(mechanism.domain)) @ mechanism.matrix()
    cases = [generator.multinomial(people, law) for people in (40, 10**6)]
    alone = []
    for counts in cases:
        module._kept.cache_clear()
        alone.append(answers(mechanism, counts))
    assert [answers(mechanism, counts) for counts in cases] == alone
    assert [answers(mechanism, counts) for counts in cases[::-1]] == alone[::-1]


def test_equal_mechanisms_share_and_different_ones_do_not():
    first = prepared(BRR(Integers(0, 19), 1, edges="padded"))
    assert prepared(BRR(Integers(0, 19), 1, edges="padded")) is first
    assert prepared(BRR(Integers(1, 20), 1, edges="padded")) is not first
    assert prepared(BRR(Integers(0, 19), 2, edges="padded")) is not first
    with pytest.raises(ValueError, match="read-only"):
        first.law[0] = 1


def test_large_mechanisms_are_not_held_in_memory():
    large = GRR(Integers(1, 10_000), 1)
    assert prepared(large) is not prepared(large)
    assert module._kept.cache_info().maxsize == 4
