"""The coins: every answer is U < T for the 64-bit number U that the words spell, in NumPy and in machine code."""

import itertools
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bipartite as bp
from bipartite.lottery.kernel import compiled
from bipartite.mechanisms.categories import bits, hashing
from bipartite.mechanisms.categories.bits import NumpyBits
from bipartite.mechanisms.categories.compiled_bits import CompiledBits

KERNELS = [NumpyBits(), CompiledBits()]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=["numpy", "compiled"])


def spell(numbers, threshold):
    """The words from which coin i reads the 64-bit number numbers[i], by the documented order; and who goes how far."""
    count = len(numbers) // 64
    assert count % 32 == 0

    def agrees(i, compared):
        return numbers[i] >> (64 - compared) == threshold >> (64 - compared)

    def word(coins, level):
        return sum((numbers[i] >> (63 - level) & 1) << (i % 64) for i in coins)

    words, early, late = [], [], []
    for start in range(0, count, 1024):
        tile = range(start, min(start + 1024, count))
        words += [word(range(64 * at, 64 * at + 64), level) for level in range(4) for at in tile]
        still = [i for i in range(64 * tile.start, 64 * tile.stop) if agrees(i, 4)]
        for layers in (8, 32):
            places = len(tile) // layers
            served = {}
            for i in still:  # ascending, so that the lowest layer comes first
                served.setdefault(((i // 64 - start) % places, i % 64), i)
            chosen = set(served.values())
            beside = [[] for _ in range(places)]
            for i in chosen:
                beside[(i // 64 - start) % places].append(i)
            words += [word(some, level) for level in range(4, 10) for some in beside]
            late += [i for i in chosen if agrees(i, 10)]
            still = [i for i in still if i not in chosen]
        early += still
    compared = {**dict.fromkeys(early, 4), **dict.fromkeys(late, 10)}
    words += [numbers[i] << compared[i] & (2**64 - 1) for i in sorted(compared)]
    return words, len(early), len(late)


@each_kernel
@given(data=st.data())
def test_an_answer_is_one_exactly_where_the_number_is_below_the_threshold(kernel, data):
    size = data.draw(st.sampled_from([2, 63, 64, 65, 100, 130, 2100]))
    people = data.draw(st.integers(1, 5))
    chances = data.draw(st.integers(1, 2**64 - 1))
    crowd = data.draw(st.sampled_from([0.1, 0.6, 1.0]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    width = bits.row_bytes(size)
    count = 2048 * -(-people * width // 256)
    # Numbers that agree with the threshold in many leading bits, and the threshold itself and its neighbours.
    near = [chances, chances - 1, min(chances + 1, 2**64 - 1)]
    numbers = []
    for kind, noise in zip(rng.integers(0, 8, count).tolist(), rng.integers(0, 2**63, count).tolist(), strict=True):
        close = near[kind] if kind < 3 else chances ^ (noise >> [4, 9, 10, 19, 25][kind - 3])
        numbers.append(close if rng.random() < crowd else noise * 2 + kind % 2)
    check_coins(kernel, people, size, chances, numbers)


@pytest.mark.grid(2)
@each_kernel
@pytest.mark.parametrize("people", [64, 65, 130])
def test_whole_tiles_and_the_last_one_are_drawn_alike(kernel, people):
    # Rows of 128 bytes: a tile is 64 people.
    chances = 0x44D7A1B2C3D4E5F6
    rng = np.random.default_rng(people)
    numbers = rng.integers(0, 2**64, 2048 * -(-people // 2), dtype=np.uint64)
    numbers[::97] = chances
    numbers[1::97] = chances - 1
    check_coins(kernel, people, 1024, chances, numbers.tolist())


def check_coins(kernel, people, size, chances, numbers):
    width = bits.row_bytes(size)
    words, early, late = spell(numbers, chances)
    assert early + late > 0
    stream = bp.fixed_words(words)
    answers = bits.coins(kernel, people, size, chances, stream)
    found = np.unpackbits(answers, axis=1, bitorder="little")
    expected = np.array([u < chances for u in numbers])[: people * width * 8].reshape(people, -1)
    assert (found[:, :size] == expected[:, :size]).all()
    assert not found[:, size:].any()
    assert repr(stream) == f"<fixed words, 0 of {len(words)} left>"


def test_many_coins_may_stay_open_to_the_last_bit():
    # Words that agree with the threshold everywhere: most coins go to the last stage, more than the kernel foresees.
    chances = 0x123456789ABCDEF0
    numbers = [chances - i % 2 for i in range(2048)]
    words, early, late = spell(numbers, chances)
    assert early > 1000
    assert late > 50
    for kernel in KERNELS:
        answers = bits.coins(kernel, 32, 64, chances, bp.fixed_words(words))
        assert (answers == 0xAA).all()


@pytest.mark.grid(12)
@pytest.mark.parametrize("size", [2, 3, 64, 65, 100, 1000])
@pytest.mark.parametrize("people", [1, 2, 254, 256, 700])
def test_numpy_and_machine_code_count_the_same(size, people):
    rng = np.random.default_rng(size * people)
    reports = np.packbits(rng.integers(0, 2, (people, size), dtype=np.uint8), axis=1, bitorder="little")
    expected = np.unpackbits(reports, axis=1, bitorder="little", count=size).sum(axis=0, dtype=np.int64)
    for kernel in KERNELS:
        assert (bits.count_rows(kernel, reports)[:size] == expected).all()
        # Rows that start in the middle of a word.
        assert (bits.count_rows(kernel, np.concatenate([reports[:1], reports])[1:])[:size] == expected).all()


@each_kernel
@pytest.mark.parametrize("levels", [2, 4, 6])
def test_coins_of_few_levels_are_exact(kernel, levels):
    # Every combination of bits in a lane of its own: c lanes of 2^levels show 1, for every c.
    cases = 2**levels
    lanes = [[sum((u >> (levels - 1 - level) & 1) << u for u in range(cases))] for level in range(levels)]
    for chances in range(cases):
        answer = int(kernel.start(np.array(lanes, dtype=np.uint64), chances << (64 - levels))[0][0])
        assert (answer & (2**cases - 1)).bit_count() == chances


@each_kernel
@pytest.mark.parametrize(("size", "start", "need"), [(4, 0b0001, 1), (4, 0b0111, -2), (5, 0b00011, 2), (3, 0b111, -2)])
def test_values_are_added_and_removed_uniformly(kernel, size, start, need):
    # Every sequence of 5 tries, each lane as often as any other: all final sets of equal size are equally frequent.
    finals = Counter()
    for tries in itertools.product(range(size), repeat=5):
        rows, needs = np.array([[start]], dtype=np.uint8), np.array([need])
        kernel.move(rows, needs, np.array([0]), tries_of(tries, size), size)
        if needs[0] == 0:
            finals[int(rows[0, 0])] += 1
    assert len(set(finals.values())) == 1
    free = [lane for lane in range(size) if (start >> lane & 1) == (need < 0)]
    assert len(finals) == len(list(itertools.combinations(free, abs(need))))


def tries_of(lanes, size):
    """Two words, as a column, whose pieces of 16 bits name these values; the rest of them is refused or fails."""
    pieces = [-(-(lane << 16) // size) + 5 for lane in lanes] + [0] * (8 - len(lanes))
    if 2**16 % size == 0:
        pieces[len(lanes) :] = [pieces[-1 - (8 - len(lanes))]] * (8 - len(lanes))
    return np.array([[sum(p << (16 * k) for k, p in enumerate(pieces[at : at + 4]))] for at in (0, 4)], dtype=np.uint64)


@each_kernel
def test_bits_that_would_bias_the_choice_of_a_value_are_a_failed_try(kernel):
    # 2^16 mod 5 = 1: of all 16 bits only 0 is refused.
    rows, needs = np.array([[0]], dtype=np.uint8), np.array([2])
    who = kernel.move(rows, needs, np.array([0]), np.array([[1 << 48]], dtype=np.uint64), 5)
    assert (who.tolist(), int(needs[0]), int(rows[0, 0])) == ([0], 1, 1)


def test_without_a_compiler_numpy_serves(monkeypatch):
    monkeypatch.setitem(sys.modules, "bipartite.mechanisms.categories.compiled_bits", None)
    compiled.cache_clear()
    assert type(bits.kernel_for(0)) is NumpyBits
    monkeypatch.delitem(sys.modules, "bipartite.mechanisms.categories.compiled_bits")
    compiled.cache_clear()
    monkeypatch.setattr(bits._Demand, "bytes", 0)
    assert type(bits.kernel_for(bits.LOAD_COMPILER_FROM - 1)) is NumpyBits
    assert type(bits.kernel_for(1)) is not NumpyBits


def test_without_a_compiler_numpy_counts_hashes(monkeypatch):
    family = hashing.HashFamily(9, 4)
    factors, buckets = np.ones((5, family.digits), dtype=np.uint16), np.zeros(5, dtype=np.uint16)
    counts = []
    monkeypatch.setitem(sys.modules, "bipartite.mechanisms.categories.compiled_hashing", None)
    compiled.cache_clear()
    counts.append(family.supports(factors, buckets).tolist())
    monkeypatch.delitem(sys.modules, "bipartite.mechanisms.categories.compiled_hashing")
    compiled.cache_clear()
    monkeypatch.setattr(hashing._Demand, "hashes", 0)
    counts.append(family.supports(factors, buckets).tolist())
    monkeypatch.setattr(hashing._Demand, "hashes", hashing.LOAD_COMPILER_FROM)
    counts.append(family.supports(factors, buckets).tolist())
    # h(x) is the number of ones of x modulo 4: only 0 goes to bucket 0 below 9.
    assert counts == [[5, 0, 0, 0, 0, 0, 0, 0, 0]] * 3


@given(
    seed=st.integers(0, 2**32),
    size=st.one_of(st.integers(2, 200), st.sampled_from([64, 65, 128, 129, 4096, 4097])),
    people=st.one_of(st.integers(1, 40), st.integers(250, 600)),
    each=st.integers(1, 4),
)
def test_numpy_and_machine_code_move_alike(seed, size, people, each):
    rng = np.random.default_rng(seed)
    start = np.packbits(rng.integers(0, 2, (people, size), dtype=np.uint8), axis=1, bitorder="little")
    indices, near = rng.integers(0, size, people), np.unpackbits(start, axis=1).sum(axis=1, dtype=np.int64)
    wanted = np.clip(near + rng.integers(-6, 7, people), 0, size - 1)
    words = rng.integers(0, 2**64, (2 * each, people), dtype=np.uint64)
    results = []
    for kernel in KERNELS:
        rows = start.copy()
        needs = kernel.first_round(rows, indices, wanted, words[:each], size)
        first, who = needs.copy(), np.flatnonzero(needs)
        left = kernel.move(rows, needs, who, np.ascontiguousarray(words[each:, : len(who)]), size)
        results.append((rows.tolist(), first.tolist(), needs.tolist(), left.tolist()))
    assert results[0] == results[1]
