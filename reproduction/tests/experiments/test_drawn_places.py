"""Other draws of places, and what is guessed from a report: rows against brute force with distances of our own."""

import math
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from reproduction.experiments import inference_errors, location_draws, location_errors
from reproduction.experiments.location_draws import AUTHORS, BEST_M, FOURSQUARE_CITY, GOWALLA_WORLD, SCRIPTED
from reproduction.experiments.places_of_the_paper import GOWALLA, WORLD, drawn, parts_of, places_of
from reproduction.places import CALIBRATED, PUBLISHED, WHOLE, WITHIN
from reproduction.runner.contract import distinct, number, select

pytestmark = pytest.mark.data
SMALL = location_draws.Settings(
    (
        replace(AUTHORS, places=60, least=1, most=60),
        replace(GOWALLA_WORLD, places=60, seeds=3, measured=2, least=1, most=60),
        replace(FOURSQUARE_CITY, places=40, seeds=1, least=41),
    ),
    epsilons=("0.5", "2"),
)


def measured(module, settings):
    return [row for cell in module.cells(settings) for row in module.measure(cell)]


@pytest.fixture(scope="module")
def rows():
    return measured(location_draws, SMALL)


def kilometres(coordinates):
    """Distances by the formula with sines of half angles; the library uses chords of whole vectors."""
    lat, lon = np.radians(coordinates).T
    half = np.sin((lat[:, None] - lat) / 2) ** 2
    half += np.cos(lat)[:, None] * np.cos(lat) * np.sin((lon[:, None] - lon) / 2) ** 2
    return 2 * 6371 * np.arcsin(np.sqrt(np.clip(half, 0, 1)))


def of_m(distances, m, e):
    """The mean error with this m, one place at a time."""
    size = len(distances)
    ordered = np.sort(distances, axis=1)
    return float(((e - 1) * ordered[:, :m].sum(axis=1) + ordered.sum(axis=1)).mean()) / ((e - 1) * m + size)


def algorithm_2(distances, e):
    """The least number of places that are raised, over all places."""
    least = len(distances)
    for row in np.sort(distances, axis=1).tolist():
        weights, total, raised = float(len(row)), math.fsum(row), 0
        for each in row:
            if each * weights >= total:
                break
            weights, total, raised = weights + e - 1, total + (e - 1) * each, raised + 1
        least = min(least, max(raised, 1))
    return least


def test_errors_within_regions_are_those_of_brute_force(rows):
    from reproduction.places import Regions

    assert {row["what"] for row in rows} == {"regions", "error"}
    for seed in (1, 2):
        regions = Regions.by_prefix(drawn(WORLD, 60, seed))
        tables = [kilometres(part.coordinates) for part in parts_of(regions)]
        for epsilon in (0.5, 2.0):
            e = math.exp(epsilon)
            some = select(rows, what="error", pool=GOWALLA_WORLD.name, seed=seed, epsilon=epsilon)
            ours = {row["mechanism"]: number(row, "expected_km") for row in some}
            expected = {
                "BRR": sum(len(each) * of_m(each, algorithm_2(each, e), e) for each in tables) / 60,
                BEST_M: sum(len(each) * min(of_m(each, m, e) for m in range(1, len(each))) for each in tables) / 60,
                "GRR": sum(len(each) * of_m(each, 1, e) for each in tables) / 60,
            }
            assert {name: ours[name] for name in expected} == pytest.approx(expected, rel=1e-4)


def test_the_authors_places_have_the_errors_of_figure_8(rows):
    """L-SRR too: the same places, regions and rule as in location_errors."""
    _, regions = places_of(GOWALLA, 60)
    for epsilon in ("0.5", "2"):
        figure = location_errors.measure(location_errors.Cell(GOWALLA, 60, epsilon))
        for name in ("BRR", "GRR", PUBLISHED, CALIBRATED):
            (row,) = select(rows, what="error", pool=AUTHORS.name, epsilon=float(epsilon), mechanism=name)
            (same,) = select(figure, scope=WITHIN, mechanism=name)
            assert row["expected_km"] == pytest.approx(same["expected_km"], rel=1e-9)
            assert row["epsilon_within"] == pytest.approx(same["epsilon_within"], rel=1e-6)
            assert row["regions"] == len(regions)


def test_only_some_draws_are_measured_and_all_are_counted(rows):
    world = select(rows, pool=GOWALLA_WORLD.name)
    assert distinct(select(world, what="regions"), "seed") == [1, 2, 3]
    assert distinct(select(world, what="error"), "seed") == [1, 2]
    assert [row["what"] for row in select(rows, pool=FOURSQUARE_CITY.name)] == ["regions"]
    for row in select(rows, what="regions"):
        assert int(row["smallest"]) * int(row["regions"]) <= row["places"] <= int(row["largest"]) * int(row["regions"])
    assert all(number(row, "epsilon_within") <= number(row, "epsilon") * (1 + 1e-9)
               for row in select(rows, what="error") if row["mechanism"] not in {PUBLISHED, SCRIPTED})  # fmt: skip


def test_savings_are_paired_by_seed(rows):
    saved = location_draws.savings(rows, GOWALLA_WORLD.name, "GRR")
    assert {epsilon: set(of) for epsilon, of in saved.items()} == {0.5: {1, 2}, 2.0: {1, 2}}
    means = location_draws.mean_savings(rows, GOWALLA_WORLD.name, "GRR")
    assert means == pytest.approx({seed: (saved[0.5][seed] + saved[2.0][seed]) / 2 for seed in (1, 2)})
    words = " ".join(" ".join(ET.fromstring(str(location_draws.draw(rows)["places_drawn"])).itertext()).split())
    assert f"{GOWALLA_WORLD.name}: 2 draws of 60 places" in words
    assert SCRIPTED not in str(location_draws.draw(rows, extra=False)["places_drawn"])


def test_the_best_guess_is_that_of_brute_force():
    from bipartite import BRR, Anchored

    settings = inference_errors.Settings(gowalla=40, foursquare=40, epsilons=("1",))
    rows = measured(inference_errors, settings)
    assert distinct(rows, "scope") == [WHOLE, WITHIN]
    _, regions = places_of(GOWALLA, 40)
    for scope, parts in ((WHOLE, [regions.places]), (WITHIN, parts_of(regions))):
        for name, make in (("BRR", BRR), ("Anchored", Anchored)):
            total = 0.0
            for part in parts:
                matrix, apart = make(part, "1").matrix(), kilometres(part.coordinates)
                total += sum(min(float(matrix[:, y] @ apart[:, guess]) for guess in range(len(part)))
                             for y in range(matrix.shape[1]))  # fmt: skip
            (row,) = select(rows, dataset=GOWALLA, scope=scope, mechanism=name)
            assert row["inference_km"] == pytest.approx(total / 40, rel=1e-4)
    for row in rows:
        (one,) = select(rows, dataset=row["dataset"], scope=row["scope"], mechanism=inference_errors.ONE_PLACE)
        assert number(row, "inference_km") <= min(number(row, "expected_km"), number(one, "expected_km")) * (1 + 1e-9)
    pictures = inference_errors.draw(rows)
    assert set(pictures) == {"inference_by_epsilon", "inference_against_error"}
    for each in pictures.values():
        ET.fromstring(str(each))
    assert "Anchored" not in str(inference_errors.draw(rows, extra=False)["inference_by_epsilon"])
