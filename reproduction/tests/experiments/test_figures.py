"""Every figure on tiny settings: rows against an independent computation, pictures as SVG that can be read."""

import csv
import io
import math
import os
import xml.etree.ElementTree as ET
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from bipartite.lottery import Epsilon
from reproduction.experiments import (
    interval_nodes,
    jaccard,
    location_errors,
    location_maps,
    monotonicity,
    optimality,
    pmf,
    qloss_by_epsilon,
    qloss_by_n,
    rows_of_a_line,
    runtime,
    theorems,
    worked_example,
)
from reproduction.runner.contract import distinct, number, select
from reproduction.runner.files import as_csv

TINY = {
    pmf: pmf.QUICK,
    worked_example: worked_example.QUICK,
    monotonicity: replace(monotonicity.QUICK, most=8),
    theorems: theorems.Settings(most=8, most_pointwise=8, limits=(101,), large=10_000),
    optimality: optimality.Settings(points=8, epsilons=("0.5", "2")),
    qloss_by_n: qloss_by_n.Settings(points=(5, 20), epsilons=("1", "2"), largest_table=5),
    qloss_by_epsilon: qloss_by_epsilon.Settings(points=(6, 9), epsilons=("0.5", "2")),
    jaccard: jaccard.Settings(points=(6, 9), epsilons=("0.5", "2")),
    interval_nodes: interval_nodes.Settings(nodes=(2, 3, 9), epsilons=("1", "4")),
}


def measured(module, settings):
    return [row for cell in module.cells(settings) for row in module.measure(cell)]


@pytest.fixture(scope="module")
def rows():
    return {module: measured(module, settings) for module, settings in TINY.items()}


@pytest.mark.parametrize("module", TINY, ids=lambda module: module.__name__.rsplit(".", 1)[1])
def test_pictures_are_svg_with_words_and_rows_are_plain(module, rows):
    for row in rows[module]:
        assert all(type(value) in {str, int, float, bool} for value in row.values()), row
    table = list(csv.DictReader(io.StringIO(as_csv(rows[module]))))
    assert len(table) == len(rows[module])
    for name, svg in module.draw(rows[module]).items():
        assert name.isidentifier()
        drawn = ET.fromstring(svg)
        assert drawn.attrib["aria-label"]
        assert float(drawn.attrib["viewBox"].split()[2]) == 860


@pytest.mark.parametrize("module", [qloss_by_n, qloss_by_epsilon, jaccard, interval_nodes, optimality])
def test_extra_lines_can_be_switched_off(module, rows):
    with_extra, without = (module.draw(rows[module], extra=extra) for extra in (True, False))
    for name, svg in without.items():
        assert "Anchored</text>" not in svg
        assert "always" not in svg
        assert len(svg) < len(with_extra[name]) or name == "ratio_by_n"


def test_chances_are_those_of_the_definition(rows):
    for row in select(rows[pmf], mechanism="BRR", truth=11):
        near = abs(int(row["report"]) - 11) <= 3  # m = 7
        assert number(row, "chance") == pytest.approx((math.e if near else 1) / (7 * math.e + 14), rel=1e-9)
    for truth in (3, 11):
        for name in ("BRR", "GRR"):
            assert sum(
                number(row, "chance") for row in select(rows[pmf], mechanism=name, truth=truth)
            ) == pytest.approx(1)


def test_local_m_is_that_of_all_choices_of_a_near_set():
    # Every set of near items, by brute force: the least expected error has as many as Algorithm 1 raises.
    for points in range(3, 8):
        for k in range(1, points + 1):
            distances = rows_of_a_line.sorted_distances(points, k)
            for epsilon in ("0.5", "1", "2"):
                e = Fraction(math.exp(float(epsilon)))
                best = min(
                    (
                        sum(d * (e if i in near else 1) for i, d in enumerate(distances)) / (points + (e - 1) * size),
                        size,
                    )
                    for size in range(1, points)
                    for near in combinations(range(points), size)
                )
                assert rows_of_a_line.local_m(distances, Epsilon.of(epsilon)) == best[1], (points, k, epsilon)


def test_the_order_of_derivatives_is_that_of_numbers(rows):
    # The signs of the table against derivatives computed in floats at one ε.
    table = select(rows[monotonicity], what="table")
    for row in table:
        k, i = int(row["value"]), int(row["rank"])
        if int(row["larger_above"]) == 0:
            assert k == 5
            continue
        found = []
        for each in (k, k + 1):
            distances = sorted(abs(each - y) for y in range(1, 11))
            weights = [math.exp(0.7)] * (i - 1) + [1.0] * (10 - i + 1)
            found.append(sum((distances[i - 1] - d) * w for d, w in zip(distances, weights, strict=True)))
        assert (found[0] > found[1]) == (int(row["larger_above"]) > 0)
    assert all(row["wrong"] == row["misplaced"] == 0 for row in select(rows[monotonicity], what="count"))


def test_quality_losses_are_those_of_brute_force(rows):
    for row in select(rows[qloss_by_epsilon], points=6):
        e = math.exp(number(row, "epsilon"))
        distance = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
        if row["mechanism"] == "GRR":
            matrix = np.where(distance == 0, e, 1) / (e + 5)
        elif row["mechanism"] == "Exponential":
            weights = np.exp(-number(row, "epsilon") * distance / (2 * 5))
            matrix = weights / weights.sum(axis=1, keepdims=True)
        else:
            continue
        assert number(row, "qloss") == pytest.approx((matrix * distance).sum() / 6 / 5, rel=1e-6)


def test_ratios_are_those_of_the_rows(rows):
    found = qloss_by_n.ratios(rows[qloss_by_n])
    brr, grr = (
        number(select(rows[qloss_by_n], mechanism=name, points=20, epsilon="1")[0], "qloss") for name in ("BRR", "GRR")
    )
    assert found["1"][20] == pytest.approx(brr / grr)
    assert set(found) == {"1", "2"}


def test_jaccard_similarities_are_those_of_the_formula(rows):
    numbers = np.arange(1, 7)
    product, squares = np.outer(numbers, numbers), np.add.outer(numbers**2, numbers**2)
    similarity = product / (squares - product)
    for row in select(rows[jaccard], points=6, mechanism="GRR"):
        e = math.exp(number(row, "epsilon"))
        matrix = np.where(np.eye(6, dtype=bool), e, 1) / (e + 5)
        assert number(row, "utility") == pytest.approx((matrix * similarity).sum() / 6, rel=1e-9)


def test_the_optimum_is_never_above_another_mechanism(rows):
    for name in ("BRR", "GRR", "Anchored", "one answer", "BRR, best m"):
        for of in optimality.gaps(rows[optimality], name).values():
            assert min(of.values()) > -1e-6
    assert max(max(of.values()) for of in optimality.gaps(rows[optimality], "BRR").values()) > 0.05


def test_counts_of_the_theorems_add_up(rows):
    found = select(rows[theorems], what="algorithm 3")
    # N = 2 to 8 with 11 budgets; the example of the errata, N = 5 and ε = 1, is among them.
    assert sum(int(row["cases"]) for row in found) == 77
    assert sum(int(row["printed_differs"]) for row in found) > 0
    assert sum(int(row["corrected_differs"]) for row in found) == 0
    (weights,) = select(rows[theorems], what="two weights")
    assert (weights["differs"], int(weights["cases"]) > 50) == (0, True)
    assert {row["rank"] for row in select(rows[theorems], what="rank", mechanism="GRR")} == {40}


PLACES = ["location_errors", "location_maps", "runtime"]


@pytest.mark.data
@pytest.mark.skipif("BIPARTITE_DATA" not in os.environ, reason="BIPARTITE_DATA names no folder of data sets")
def test_places_give_rows_and_pictures():
    errors = measured(location_errors, location_errors.Settings(gowalla=40, foursquare=40, epsilons=("1",)))
    assert distinct(errors, "dataset") == ["Gowalla", "FourSquare"]
    assert set(location_errors.savings(errors, "GRR")["Gowalla"]) == {1.0}
    assert set(location_errors.draw(errors)) == {"places_within_regions", "places_saved", "places_whole"}
    assert set(location_errors.draw(errors, extra=False)) == {"places_within_regions", "places_saved"}
    maps = measured(location_maps, location_maps.Settings(gowalla=40, foursquare=40))
    assert sum(int(row["size"]) for row in select(maps, dataset="Gowalla")) == 40
    assert set(location_maps.draw(maps)) == {"map_gowalla", "map_foursquare", "region_sizes"}
    times = measured(runtime, runtime.Settings(gowalla=40, foursquare=40, shares=(50, 100), rounds=1, singles=5))
    assert {row["what"] for row in times} == {"design", "server", "one report"}
    assert "one report" not in runtime.draw(times)["runtime"].split("aria-label")[0]
