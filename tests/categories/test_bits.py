"""The coins: every answer is U < T for the 64-bit number U that the words spell, in NumPy and in machine code."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bipartite as bp
from bipartite.categories import bits
from bipartite.categories.bits import LANE_BITS, LEVELS, REST_BITS, Chances, NumpyBits
from bipartite.categories.compiled_bits import CompiledBits

KERNELS = [NumpyBits(), CompiledBits()]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=["numpy", "compiled"])


def spell(numbers, thresholds, columns, size):
    """The words from which coin i reads the 64-bit number numbers[i], by the documented order."""
    rows = len(numbers) // (columns * 64)
    words = []
    for level in range(LEVELS):
        for at in range(rows * columns):
            lanes = numbers[at * 64 : at * 64 + 64]
            words.append(sum((u >> (63 - level) & 1) << lane for lane, u in enumerate(lanes)))
    top, middle = 64 - LEVELS, REST_BITS
    real = [i for i in range(len(numbers)) if i % (columns * 64) < size]
    ties = [i for i in real if numbers[i] >> top == thresholds[i] >> top]
    for four in itertools.batched(ties, 4) if hasattr(itertools, "batched") else zip_four(ties):
        words.append(sum((numbers[i] >> middle & (2**LANE_BITS - 1)) << (16 * at) for at, i in enumerate(four)))
    still = [i for i in ties if numbers[i] >> middle == thresholds[i] >> middle]
    words += [numbers[i] << (64 - REST_BITS) & (2**64 - 1) for i in still]
    return words, len(ties), len(still)


def zip_four(items):
    return [items[at : at + 4] for at in range(0, len(items), 4)]


@each_kernel
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_an_answer_is_one_exactly_where_the_number_is_below_the_threshold(kernel, data):
    size = data.draw(st.sampled_from([2, 63, 64, 65, 100, 130]))
    rows = data.draw(st.integers(1, 3))
    one, zero = (data.draw(st.integers(1, 2**64 - 1)) for _ in range(2))
    seed = data.draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    columns = bits.row_words(size)
    given_bits = rng.integers(0, 2, (rows, columns * 64), dtype=np.uint8)
    given_bits[:, size:] = 0
    flags = given_bits.reshape(-1).tolist()
    thresholds = [one if flag else zero for flag in flags]
    # Numbers that agree with their threshold in many leading bits, and the threshold itself and its neighbours.
    numbers = []
    for threshold in thresholds:
        kind = int(rng.integers(0, 6))
        noise = int(rng.integers(0, 2**63)) * 2 + int(rng.integers(0, 2))
        near = [threshold, threshold - 1, min(threshold + 1, 2**64 - 1)]
        keep = [0, LEVELS, LEVELS + LANE_BITS, 60]
        numbers.append(near[kind] if kind < 3 else threshold ^ noise >> keep[kind - 2])
    words, ties, still = spell(numbers, thresholds, columns, size)
    assert ties >= still
    stream = bp.fixed_words(words)
    rows_in = np.packbits(given_bits, axis=1, bitorder="little").view("<u8")
    answers = bits.answer(kernel, np.ascontiguousarray(rows_in), size, Chances(one, zero), stream)
    found = np.unpackbits(answers.view(np.uint8), axis=1, bitorder="little")
    expected = np.array([u < t for u, t in zip(numbers, thresholds, strict=True)]).reshape(rows, -1)
    expected[:, size:] = False
    assert (found == expected).all()
    assert repr(stream) == f"<fixed words, 0 of {len(words)} left>"


def test_many_coins_may_stay_open_to_the_last_bit():
    # Words that agree with the threshold everywhere: 640 coins go to the last stage, more than the kernel foresees.
    chances = Chances(one=2**63, zero=0x123456789ABCDEF0)
    numbers = [chances.zero - (i % 2) for i in range(640)]
    words, _, still = spell(numbers, [chances.zero] * 640, 1, 64)
    assert still == 640
    for kernel in KERNELS:
        answers = bits.answer(kernel, np.zeros((10, 1), dtype=np.uint64), 64, chances, bp.fixed_words(words))
        assert (answers == np.uint64(0xAAAAAAAAAAAAAAAA)).all()


@pytest.mark.parametrize("size", [2, 3, 64, 65, 100, 1000])
@pytest.mark.parametrize("people", [1, 2, 254, 256, 700])
def test_numpy_and_machine_code_count_the_same(size, people):
    rng = np.random.default_rng(size * people)
    reports = np.packbits(rng.integers(0, 2, (people, size), dtype=np.uint8), axis=1, bitorder="little")
    rows = bits.to_rows(reports, size)
    assert (bits.to_reports(rows, size) == reports).all()
    expected = np.unpackbits(reports, axis=1, bitorder="little", count=size).sum(axis=0, dtype=np.int64)
    for kernel in KERNELS:
        assert (kernel.column_counts(rows)[:size] == expected).all()


@each_kernel
def test_coins_of_few_levels_are_exact(kernel):
    # All 2^3 words of 3 levels in 8 lanes: c of 8 lanes show 1, for every c.
    lanes = np.array([[sum((u >> (2 - level) & 1) << u for u in range(8))] for level in range(3)], dtype=np.uint64)
    for chances in range(8):
        answer = int(kernel.few_levels(lanes, chances)[0]) & 0xFF
        assert bin(answer).count("1") == chances


@each_kernel
@pytest.mark.parametrize(("size", "start", "need"), [(4, 0b0001, 1), (4, 0b0111, -2), (5, 0b00011, 2), (3, 0b111, -2)])
def test_values_are_added_and_removed_uniformly(kernel, size, start, need):
    # Every sequence of 6 tries, each lane as often as any other: all final sets of equal size are equally frequent.
    step = -(-(2**64) // size)
    finals = Counter()
    for tries in itertools.product(range(size), repeat=6):
        words = np.array([lane * step + 5 for lane in tries], dtype=np.uint64)
        rows, needs = np.array([[start]], dtype=np.uint64), np.array([need])
        kernel.move(rows, needs, words, size)
        if needs[0] == 0:
            finals[int(rows[0, 0])] += 1
    assert len(set(finals.values())) == 1
    free = [lane for lane in range(size) if (start >> lane & 1) == (need < 0)]
    assert len(finals) == len(list(itertools.combinations(free, abs(need))))


@each_kernel
def test_a_word_that_would_bias_the_choice_of_a_value_is_a_failed_try(kernel):
    # 2^64 mod 5 = 1: of all words only 0 is refused.
    rows, needs = np.array([[0]], dtype=np.uint64), np.array([1])
    used, left = kernel.move(rows, needs, np.array([0, 1], dtype=np.uint64), 5)
    assert (used, left, int(rows[0, 0])) == (2, 0, 1)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), size=st.integers(2, 200), people=st.integers(1, 40))
def test_numpy_and_machine_code_move_alike(seed, size, people):
    rng = np.random.default_rng(seed)
    start = np.packbits(rng.integers(0, 2, (people, size), dtype=np.uint8), axis=1, bitorder="little")
    indices, wanted = rng.integers(0, size, people), rng.integers(0, size, people)
    words = rng.integers(0, 2**64, 5000, dtype=np.uint64)
    results = []
    for kernel in KERNELS:
        rows = bits.to_rows(start, size).copy()
        needs = kernel.shortfall(rows, indices, wanted)
        first = needs.copy()
        used, left = kernel.move(rows, needs, words, size)
        results.append((rows.tolist(), first.tolist(), needs.tolist(), used, left))
    assert results[0] == results[1]
