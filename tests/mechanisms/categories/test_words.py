"""Every draw again in plain Python, one person and one word at a time, by the documented order of words."""

import itertools

import numpy as np
import pytest

import bipartite as bp
from bipartite.lottery.uniform import ticket_below


def words_of(seed):
    return bp.insecure_seed(seed).streams().stream(0, 1)


@pytest.mark.parametrize(("size", "epsilon"), [(2, 1), (7, "0.3"), (40, 2), (100, 6)])
def test_hadamard_response_word_by_word(size, epsilon):
    mechanism = bp.HadamardResponse(bp.Integers(0, size - 1), epsilon)
    values = np.random.default_rng(size).integers(0, size, 200)
    stream = words_of(size)
    b, near, far = mechanism.block_size, mechanism.draw.tickets.near, mechanism.draw.tickets.far
    total = b // 2 * near + (mechanism.numbers - b // 2) * far
    expected = []
    for x in values.tolist():
        block, row = x // (b - 1), x % (b - 1) + 1
        inside = range(block * b, block * b + b)
        mine = [y for y in inside if ((y - block * b) & row).bit_count() % 2 == 0]
        rest = [y for y in inside if y not in mine]
        others = [y for y in range(mechanism.numbers) if y not in inside]
        ticket = ticket_below(total, stream)
        if ticket < len(mine) * near:
            expected.append(in_parity_order(mine, row, block * b)[ticket // near])
        else:
            expected.append((in_parity_order(rest, row, block * b) + others)[(ticket - len(mine) * near) // far])
    assert mechanism.privatize(values, rng=bp.insecure_seed(size)).tolist() == expected


def in_parity_order(numbers, row, start):
    """Ascending by the bits other than that of the row's lowest 1, which the parity decides."""
    lowest = row & -row
    return sorted(numbers, key=lambda y: (y - start) & ~lowest)


@pytest.mark.parametrize(("size", "epsilon"), [(2, 1), (9, "0.3"), (40, 2), (300, 5)])
def test_olh_word_by_word(size, epsilon):
    mechanism = bp.OLH(bp.Integers(0, size - 1), epsilon)
    g, family = mechanism.buckets, mechanism.draw.family
    values = np.random.default_rng(size).integers(0, size, 150)
    stream = words_of(size)
    seeds = [[ticket_below(g**digits, stream) for _ in values] for digits in family.seeds]
    near, far = mechanism.draw.tickets.near, mechanism.draw.tickets.far
    expected = []
    for person, x in enumerate(values.tolist()):
        row = [column[person] for column in seeds]
        factors = [seed // g**k % g for seed, digits in zip(row, family.seeds, strict=True) for k in range(digits)]
        base = next(p for p in range(2, g + 1) if g % p == 0)
        true = sum(factor * (x // base**k % base) for k, factor in enumerate(factors)) % g
        ticket = ticket_below(near + (g - 1) * far, stream)
        others = [bucket for bucket in range(g) if bucket != true]
        expected.append([*row, true if ticket < near else others[(ticket - near) // far]])
    assert mechanism.privatize(values, rng=bp.insecure_seed(size)).tolist() == expected


@pytest.mark.parametrize(("size", "k"), [(2, None), (5, 3), (20, None), (70, None), (100, 80)])
def test_subset_selection_word_by_word(size, k):
    mechanism = bp.SubsetSelection(bp.Integers(0, size - 1), 1, k=k)
    k = mechanism.k
    values = np.random.default_rng(size).integers(0, size, 40)
    stream = words_of(size)
    near, far = mechanism.draw.tickets.near, mechanism.draw.tickets.far
    inside = [ticket_below(k * near + (size - k) * far, stream) < k * near for _ in values]
    width = -(-size // 8) * 8
    count = -(-len(values) * width // 64)
    levels = [[stream.word() for _ in range(count)] for _ in range(6)]
    chances = mechanism.draw._first_chances
    people = []
    for person, x in enumerate(values.tolist()):
        chosen = set()
        for j in range(size):
            at, lane = divmod(person * width + j, 64)
            drawn = int("".join(str(level[at] >> lane & 1) for level in levels), 2)
            if drawn < chances and j != x:
                chosen.add(j)
        people.append(chosen)
    needs = [k - mine - len(chosen) for mine, chosen in zip(inside, people, strict=True)]
    each = mechanism.draw._round_words
    active = list(range(len(needs)))
    while active:
        columns = list(zip(*[[stream.word() for _ in active] for _ in range(each)], strict=True))
        for person, column in zip(active, columns, strict=True):
            x, chosen = values[person], people[person]
            for piece in (word >> at & 0xFFFF for word in column for at in (0, 16, 32, 48)):
                j, low = divmod(piece * size, 2**16)
                if needs[person] == 0 or low < 2**16 % size or j == x:
                    continue
                if needs[person] > 0 and j not in chosen:
                    chosen.add(j)
                    needs[person] -= 1
                elif needs[person] < 0 and j in chosen:
                    chosen.remove(j)
                    needs[person] += 1
        active = [person for person in active if needs[person]]
    sets = [chosen | ({x} if mine else set()) for x, mine, chosen in zip(values.tolist(), inside, people, strict=True)]
    reports = mechanism.privatize(values, rng=bp.insecure_seed(size))
    found = [set(np.flatnonzero(np.unpackbits(row, bitorder="little")).tolist()) for row in reports]
    assert found == sets


def test_a_unary_report_shows_its_own_bit_by_one_word():
    # One word a person says whether the own bit is shown, before any other word is taken.
    mechanism = bp.OUE(bp.Integers(0, 9), 1)
    rest = [2**64 - 1] * 200  # coins far above q: all other bits are 0
    for word, shown in itertools.product((0, 2**63 - 1, 2**63, 2**64 - 1), (4,)):
        report = mechanism.privatize(shown, rng=bp.fixed_words([word, *rest]))
        bits = np.unpackbits(report, bitorder="little").tolist()
        assert bits[shown] == (word < 2**63)
        assert sum(bits) == bits[shown]
