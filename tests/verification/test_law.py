"""Faults that leave ε intact are caught by the law test; a sound law is not."""

import math

import numpy as np
import pytest

import bipartite as bp
from bipartite.errors import InputError
from bipartite.lottery.words import InsecureSeed
from bipartite.verification.law import _compare
from tests.verification.faults import generator, of_matrix, window_matrix
from tests.verification.test_audit import MECHANISMS

AGES = bp.BRR(bp.Integers(18, 90), 1)


def largest_ratio(matrix):
    return math.log((matrix.max(axis=0) / matrix.min(axis=0)).max())


@pytest.mark.parametrize(("mechanism", "inputs"), MECHANISMS, ids=[repr(each)[:40] for each, _ in MECHANISMS])
def test_no_mechanism_of_the_package_breaks_its_law(mechanism, inputs):
    # Family-wise false alarm: 1 % over all of them; seeded, so that it does not come and go.
    confidence = 1 - 0.01 / len(MECHANISMS)
    found = bp.law_test(mechanism, trials=5000, rng=bp.insecure_seed(12), confidence=confidence)
    assert found.holds, found
    assert found.inputs == len(mechanism.domain)
    assert len(inputs) == 2


def test_shifted_windows_are_caught_though_epsilon_is_intact():
    law = AGES.matrix()
    shifted = np.roll(law, 1, axis=1)  # each window one output too far; ratios are what they were
    assert largest_ratio(shifted) == pytest.approx(1)
    found = bp.law_test(of_matrix(shifted, 1), trials=1000, matrix=law)
    assert not found.holds
    assert found.p_value < 1e-9
    assert min(found.parts, key=found.parts.get) == "directions"
    # The audit, rightly, has nothing to say.
    assert bp.audit(of_matrix(shifted, 1), (0, 72), trials=20_000, epsilon=1, confidence=1 - 1e-9).holds


def test_one_shifted_window_of_many_is_caught():
    law = AGES.matrix()
    faulty = law.copy()
    faulty[36] = law[37]
    found = bp.law_test(of_matrix(faulty, 2), trials=5000, matrix=law)
    assert not found.holds
    assert found.worst.input == 36
    assert found.worst.output in {23, 50}


def test_swapped_tickets_are_caught_though_epsilon_is_intact():
    law = AGES.matrix()
    faulty = law.copy()
    faulty[:, [10, 60]] = law[:, [60, 10]]
    assert largest_ratio(faulty) == pytest.approx(1)
    found = bp.law_test(of_matrix(faulty, 3), trials=3000, matrix=law)
    assert not found.holds
    assert found.worst.output in {10, 60}
    # In one row only, more trials are needed.
    one = law.copy()
    one[5, [3, 60]] = law[5, [60, 3]]
    found = bp.law_test(of_matrix(one, 3), trials=5000, matrix=law)
    assert not found.holds
    assert (found.worst.input, found.worst.output) in {(5, 3), (5, 60)}


class Biased(InsecureSeed):
    """Words whose top bit is one a little too often."""

    __slots__ = ("per_mille",)

    def __init__(self, seed, per_mille):
        super().__init__(seed)
        self.per_mille = per_mille

    def stream(self, chunk, expected):
        return BiasedStream(super().stream(chunk, expected), self.per_mille)


class BiasedStream:
    def __init__(self, stream, per_mille):
        self.stream = stream
        self.advance, self.erase = stream.advance, stream.erase
        self.per_mille = per_mille

    def window(self, least=1):
        words = self.stream.window(least).copy()
        chosen = words % np.uint64(1000) < np.uint64(self.per_mille)
        words[chosen] |= np.uint64(2**63)
        return words


def noisy(size, rows):
    """Each cell of these rows too likely or too rare by this share, at random."""
    law = AGES.matrix()
    law[rows] *= 1 + size * generator(3).choice([-1, 1], law[rows].shape)
    return law / law.sum(axis=1, keepdims=True)


def one_cell():
    law = AGES.matrix()
    law[20, 40] *= 1.5
    return law / law.sum(axis=1, keepdims=True)


def flatter():
    return 0.98 * AGES.matrix() + 0.02 / 73


@pytest.mark.parametrize(
    ("only", "faulty", "trials"),
    [
        ("each cell", one_cell(), 25_000),
        ("each input", noisy(0.15, [20]), 5000),
        ("all inputs", noisy(0.05, slice(None)), 3000),
        ("directions", flatter(), 10_000),
    ],
)
def test_each_of_the_four_tests_finds_a_fault_that_the_others_miss(only, faulty, trials):
    found = bp.law_test(of_matrix(faulty, 5), trials=trials, matrix=AGES.matrix())
    assert [name for name, p in found.parts.items() if 4 * p < 0.01] == [only]
    assert not found.holds
    assert found.p_value == 4 * found.parts[only]


@pytest.mark.parametrize("per_mille", [10, 40])
def test_biased_words_are_caught(per_mille):
    found = bp.law_test(AGES, trials=20_000, rng=Biased(4, per_mille))
    assert not found.holds
    assert found.p_value < 1e-6
    # And the same stream without the bias is not.
    assert bp.law_test(AGES, trials=20_000, rng=Biased(4, 0)).holds


def test_biased_words_are_caught_in_noise_and_tables_too():
    for mechanism in (bp.Geometric(bp.Integers(1, 12), 1), bp.Exponential(bp.Integers(1, 12), 1)):
        assert not bp.law_test(mechanism, trials=100_000, rng=Biased(5, 40)).holds


def test_a_report_that_is_no_output_is_a_finding():
    found = bp.law_test(lambda v: v + 1, trials=50, matrix=np.full((3, 3), 1 / 3))
    assert (found.p_value, found.holds) == (0, False)
    assert "report 'none of the outputs' for value 2, expected 0.0 times, found 50 times" in str(found)
    impossible = bp.law_test(lambda v: (v + 1) % 3, trials=50, matrix=np.eye(3))
    assert impossible.p_value == 0


def alarms_of(law, trials, tests, seed):
    """How many tests of sound samples say at 1 % that the law is broken."""
    random, places = generator(seed), (range(len(law)), range(law.shape[1]))
    samples = (np.array([random.multinomial(trials, row / row.sum()) for row in law]) for _ in range(tests))
    return sum(not _compare(law, counts, *places, trials, 0.99).holds for counts in samples)


WINDOWS = window_matrix(30, 30, 1, lambda x: min(x, 20), lambda _: 10)


@pytest.mark.grid(1)
@pytest.mark.parametrize("law", [WINDOWS, np.full((2, 40), 1 / 40), np.eye(4)], ids=["windows", "uniform", "truth"])
def test_false_alarms_are_as_rare_as_stated(law):
    # More than 19 of 400 has probability < 1e-7 if it were exactly 1 %.
    assert alarms_of(law, 200, 400, 6) <= 19


@pytest.mark.grid(1)
@pytest.mark.parametrize(("size", "epsilon", "trials"), [(4, 10, 1000), (10, 10, 1000), (5, 6, 200)])
def test_rare_reports_of_large_weight_raise_no_false_alarm(size, epsilon, trials):
    # A shift by one weighs a report with chance e^−10 by e^10: two of them are far out for a normal law, and likely.
    assert alarms_of(bp.GRR(bp.Integers(1, size), epsilon).matrix(), trials, 1000, 8) <= 10


def test_labels_floats_and_chosen_inputs():
    items = bp.Items(["a", "b", "c"], loss=[[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    mechanism = bp.BRR(items, 1, m=1)
    found = bp.law_test(mechanism, trials=2000, rng=bp.insecure_seed(1), inputs=["c", "a"])
    assert (found.holds, found.inputs) == (True, 2)
    wide = bp.BRR(bp.Integers(0, 1000), 1)
    assert bp.law_test(wide, trials=100, rng=bp.insecure_seed(1)).inputs == 256
    callable_law = bp.law_test(
        lambda v: mechanism.privatize(v, rng=bp.insecure_seed(3)),
        trials=2000,
        matrix=mechanism.matrix(),
        inputs=["a", "b", "c"],
        outputs=["a", "b", "c"],
    )
    assert callable_law.holds
    assert "not refuted: reports are consistent with the law" in str(callable_law)


def test_the_verdict_names_the_worst_cell():
    law = np.array([[0.5, 0.5], [0.5, 0.5]])
    found = bp.law_test(of_matrix(np.array([[0.9, 0.1], [0.5, 0.5]]), 7), trials=1000, matrix=law)
    text = str(found)
    assert found.verdict.startswith("broken: reports do not follow the law, p = ")
    assert f"for value 0, expected 500.0 times, found {found.worst.found} times" in text
    assert abs(found.worst.found - 500) > 300
    assert "1,000 trials for each of 2 inputs" in text
    assert set(found.parts) == {"each cell", "each input", "all inputs", "directions"}


@pytest.mark.parametrize(
    ("mechanism", "arguments", "message"),
    [
        (AGES, {"trials": 0}, "Expected trials as a whole number of at least 1, got 0; try 100_000."),
        (AGES, {"confidence": 1}, "Expected confidence from 0.5 to below 1, got 1; use 0.99."),
        (AGES, {"matrix": np.eye(2)}, "Expected no matrix and no outputs, as a mechanism has its own"),
        (
            bp.BRR(bp.Integers(0, 2**20), 1),
            {},
            "Expected at most 2^24 cells, got 256 inputs × 1048577 outputs; pass fewer inputs",
        ),
        (3, {"matrix": np.eye(2)}, "Expected a mechanism or a callable, got int; pass mech or mech.privatize."),
        (len, {}, "Expected matrix as rows of probabilities, one per input; pass matrix=mech.matrix()."),
        (len, {"matrix": [[0.5, 0.4]]}, "Expected matrix as rows of probabilities"),
        (len, {"matrix": np.eye(2), "inputs": [1]}, "Expected 2 inputs, as in the matrix, got 1."),
        (len, {"matrix": np.eye(2), "outputs": [1]}, "Expected 2 outputs, as in the matrix, got 1."),
        (len, {"matrix": np.eye(2), "rng": 7}, "Expected no rng for a callable, which draws its own random words"),
        (lambda v: v[:1], {"matrix": np.eye(2)}, "Expected 9 reports for 9 values, got shape (1,); return one"),
    ],
)
def test_what_cannot_be_tested_is_refused(mechanism, arguments, message):
    with pytest.raises(InputError) as refusal:
        bp.law_test(mechanism, **{"trials": 9, **arguments})
    assert message in str(refusal.value)


def test_progress_counts_every_report():
    seen = []
    bp.law_test(lambda v: v, trials=7, matrix=np.eye(3), progress=seen.append)
    assert sum(seen) == 21
