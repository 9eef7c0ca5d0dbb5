"""Sizes and parameters: decided exactly, as the papers have them."""

import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import bipartite as bp
from bipartite.errors import DesignError, InputError
from tests.mechanisms.categories import laws
from tests.oracle import exp

DOMAIN = bp.Integers(0, 99)


@pytest.mark.grid(12)
@pytest.mark.parametrize("epsilon", ["0.01", "0.4054651081081643819", "1", "1.0986122886681098", "2.5", "5"])
@pytest.mark.parametrize("size", [2, 3, 10, 100, 1001])
def test_the_sizes_of_sets_and_of_hashes_are_the_rounded_optima(epsilon, size):
    grown = exp(epsilon)
    domain = bp.Integers(1, size)
    best = max(1, int(mpmath.floor(size / (grown + 1) + 0.5)))
    assert bp.SubsetSelection(domain, epsilon).k == best
    assert bp.OLH(domain, epsilon).buckets == int(mpmath.floor(grown + 0.5)) + 1


def test_a_person_may_choose_k_and_g():
    assert bp.SubsetSelection(DOMAIN, 1, k=50).k == 50
    assert bp.OLH(DOMAIN, 1, buckets=2).buckets == 2
    assert bp.verify(bp.SubsetSelection(DOMAIN, 1, k=99)).holds
    for k in (0, 100, 1.5, True):
        with pytest.raises(InputError, match="Expected k as a whole number from 1 to 99, got .*; leave it out"):
            bp.SubsetSelection(DOMAIN, 1, k=k)
    with pytest.raises(InputError, match="Expected buckets as a whole number from 2 to 32768, got 1"):
        bp.OLH(DOMAIN, 1, buckets=1)
    with pytest.raises(DesignError, match="needs more than 2\\^15 buckets; use bp.GRR"):
        bp.OLH(DOMAIN, 11)


@pytest.mark.grid(20)
@pytest.mark.parametrize("size", [2, 3, 4, 16, 64, 100, 1024])
@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "1.5", "2", "3", "4", "5", "10"])
def test_hadamard_blocks_are_those_of_the_least_variance(size, epsilon):
    e = math.exp(float(epsilon))

    def variance(blocks):
        """Of a report's part in a share, on average over a uniform population, without a mechanism."""
        length = 2 ** math.ceil(math.log2(size / blocks + 1))
        total = length / 2 * e + (blocks - 0.5) * length
        p = length / 2 * (e - 1) / total
        held = np.bincount(np.arange(size) // (length - 1)) / size
        return (length / total + (held**2).sum() * p) / p**2

    choices = [2**power for power in range(12) if 2**power < 2 * size]
    mechanism = bp.HadamardResponse(bp.Integers(1, size), epsilon)
    assert mechanism.blocks in choices
    assert variance(mechanism.blocks) <= min(map(variance, choices)) * (1 + 1e-5)  # tickets keep ε within 1e-6
    uniform = np.full(size, 1 / size)
    assert mechanism.variances(uniform, 1).mean() == pytest.approx(variance(mechanism.blocks) - 1 / size, rel=1e-4)


@pytest.mark.parametrize(
    ("size", "epsilon", "blocks", "block_size"),
    [(2, "0.5", 1, 4), (3, "0.5", 1, 4), (4, "0.5", 1, 8), (100, "0.5", 1, 128), (100, 1, 2, 64), (127, "0.1", 1, 128),
     (100, 5, 128, 2), (1024, 2, 4, 512), (2, 8, 2, 2), (64, 10, 64, 2)],
)  # fmt: skip
def test_hadamard_blocks_of_the_paper_can_be_asked_for_and_are_read_from_published_specs(
    size, epsilon, blocks, block_size
):
    mechanism = bp.HadamardResponse(bp.Integers(1, size), epsilon, blocks=blocks)
    assert (mechanism.blocks, mechanism.block_size) == (blocks, block_size)
    # B = 2^(⌈log2 min(e^ε, 2N)⌉ − 1), b = 2^⌈log2(N/B + 1)⌉.
    power = math.ceil(math.log2(min(math.exp(float(epsilon)), 2 * size))) - 1
    assert blocks == 2 ** max(power, 0)
    assert block_size == 2 ** math.ceil(math.log2(size / blocks + 1))
    assert bp.from_spec(mechanism.to_spec()).blocks == blocks


def test_numbers_of_blocks_that_are_none_are_refused():
    for blocks, message in ((3, "power of two, got 3"), (0, "from 1 to 128"), (256, "from 1 to 128"), (True, "whole")):
        with pytest.raises(InputError, match=message):
            bp.HadamardResponse(DOMAIN, 1, blocks=blocks)


@pytest.mark.parametrize("epsilon", ["0.5", "1", "3"])
def test_variances_are_those_of_the_literature(epsilon):
    e, n = math.exp(float(epsilon)), 1000
    rare = np.zeros(100)

    def variance(mechanism):
        return mechanism.variances(rare, n)[0]

    # Wang et al. 2017, table 1; their OLH has g = e^ε + 1 unrounded.
    assert variance(bp.OUE(DOMAIN, epsilon)) == pytest.approx(4 * e / (n * (e - 1) ** 2))
    half = math.exp(float(epsilon) / 2)
    assert variance(bp.SUE(DOMAIN, epsilon)) == pytest.approx(half / (n * (half - 1) ** 2))
    g = bp.OLH(DOMAIN, epsilon).buckets
    assert variance(bp.OLH(DOMAIN, epsilon)) == pytest.approx((e - 1 + g) ** 2 / (n * (e - 1) ** 2 * (g - 1)))
    if epsilon == "0.5":  # one block: ((e^ε + 1)/(e^ε − 1))²/n
        assert variance(bp.HadamardResponse(DOMAIN, epsilon)) == pytest.approx(((e + 1) / (e - 1)) ** 2 / n)


def test_rappor_states_the_epsilon_of_one_report_and_of_all():
    mechanism = bp.RAPPOR(DOMAIN, f=0.5, p=0.5, q=0.75)
    assert mechanism.f == Fraction(1, 2)
    assert mechanism.epsilon == pytest.approx(2 * math.log(0.75 / 0.25))
    assert mechanism.epsilon_decimal >= Decimal(mechanism.largest_ratio().numerator).ln()
    high, low = 0.25 * (0.5 + 0.75) + 0.5 * 0.75, 0.25 * (0.5 + 0.75) + 0.5 * 0.5
    assert float(mechanism.epsilon_of_one_report) == pytest.approx(math.log(high * (1 - low) / (low * (1 - high))))
    certificate = bp.verify(mechanism)
    assert certificate.holds
    assert certificate.guarantee.startswith("ε-LDP of all reports from one permanent response together")
    asked = bp.RAPPOR(DOMAIN, epsilon_permanent=2)
    assert float(asked.f) == pytest.approx(2 / (math.exp(1) + 1))


def test_rappor_refuses_parameters_that_make_no_sense_all_at_once():
    with pytest.raises(InputError, match="Expected either epsilon_permanent= or f=; the other"):
        bp.RAPPOR(DOMAIN)
    with pytest.raises(InputError, match="Expected either epsilon_permanent= or f=; the other"):
        bp.RAPPOR(DOMAIN, epsilon_permanent=1, f=0.5)
    with pytest.raises(
        InputError, match="(?s)2 problems.*Expected p as a number.*got 0.*Expected q as a number.*got 'x'"
    ):
        bp.RAPPOR(DOMAIN, f=0.5, p=0, q="x")
    with pytest.raises(InputError, match="Expected p < q"):
        bp.RAPPOR(DOMAIN, f=0.5, p=0.75, q=0.5)
    for f in (0, 1, 1.5, True, float("nan")):
        with pytest.raises(InputError, match="Expected f as a number strictly between 0 and 1"):
            bp.RAPPOR(DOMAIN, f=f)
    with pytest.raises(DesignError, match="pure noise|beyond"):
        bp.RAPPOR(DOMAIN, f=1 - Fraction(1, 2**64))


def test_rappor_reports_from_a_permanent_response_that_the_client_keeps():
    mechanism = bp.RAPPOR(DOMAIN, f="0.25", p="0.3", q="0.6")
    values = np.repeat([3, 50], 20_000)
    kept = mechanism.permanent(values, rng=bp.insecure_seed(1))
    first = mechanism.instantaneous(kept, rng=bp.insecure_seed(2))
    second = mechanism.instantaneous(kept, rng=bp.insecure_seed(3))
    assert first.shape == kept.shape
    assert not (first == second).all()
    for reports in (first, second):
        shares, errors = laws.shares(mechanism, reports)
        true = np.bincount(values, minlength=100) / len(values)
        # 7 standard errors: a false alarm in 1e-9 with 200 looks.
        assert (np.abs(shares - true) < 7 * errors).all()
    alone = mechanism.permanent(3)
    assert mechanism.instantaneous(alone).shape == alone.shape
    with pytest.raises(InputError, match="Expected reports as a NumPy array of uint8"):
        mechanism.instantaneous(kept[:, :5])
