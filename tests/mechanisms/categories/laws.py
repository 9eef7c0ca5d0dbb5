"""The exact laws of small mechanisms, written down from the papers and shared with no code of the package."""

import itertools
from fractions import Fraction

import numpy as np


def packed(bits):
    return np.packbits(np.array(bits, dtype=np.uint8), bitorder="little")


def unary(size, p, q):
    """{report: [Pr[report | x] for every x]}, reports as tuples of bits."""
    law = {}
    for bits in itertools.product((0, 1), repeat=size):
        row = []
        for x in range(size):
            chance = Fraction(1)
            for j, bit in enumerate(bits):
                one = p if j == x else q
                chance *= one if bit else 1 - one
            row.append(chance)
        law[bits] = row
    return law


def subsets(size, k, a, b):
    """Every set of k values, with weight a if it holds x, else b."""
    law = {}
    for chosen in itertools.combinations(range(size), k):
        bits = tuple(int(j in chosen) for j in range(size))
        law[bits] = [Fraction(a if x in chosen else b) for x in range(size)]
    totals = [sum(row[x] for row in law.values()) for x in range(size)]
    return {bits: [chance / totals[x] for x, chance in enumerate(row)] for bits, row in law.items()}


def largest_ratio(law):
    return max(max(row) / min(row) for row in law.values())


def moments(law, supports, size):
    """E and Var of the support of z given x, by summing over all reports; supports[report][z]."""
    mean = [[sum(row[x] * int(supports[y][z]) for y, row in law.items()) for z in range(size)] for x in range(size)]
    square = [
        [sum(row[x] * int(supports[y][z]) ** 2 for y, row in law.items()) for z in range(size)] for x in range(size)
    ]
    return mean, [[square[x][z] - mean[x][z] ** 2 for z in range(size)] for x in range(size)]


def shares(mechanism, reports=None, counts=None, people=None):
    """(the unbiased shares, their standard errors), by the formulas of the literature."""
    held = mechanism.count(reports) if counts is None else counts
    n = len(reports) if people is None else people
    p, q = map(float, mechanism.support)
    found = (held / n - q) / (p - q)
    return found, np.sqrt(mechanism.variances(np.clip(found, 0, 1), n))
