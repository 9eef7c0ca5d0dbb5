"""Numbers of the full run in sentences of the docs: each is computed from its table and read there."""

import statistics
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from reproduction.claims import boosting, networks, training
from reproduction.experiments import gbdt, location_draws, location_errors, sgd
from reproduction.experiments.gbdt_tasks import TASKS
from reproduction.experiments.places_of_the_paper import FOURSQUARE, GOWALLA
from reproduction.experiments.printed import BOOSTING_SHARES, SGD_BUDGETS
from reproduction.places import CALIBRATED, PUBLISHED, WHOLE, WITHIN
from reproduction.runner.contract import select
from result_tables import ends_of_training, rows

ROOT = Path(__file__).parents[1]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(each for each in (ROOT / "docs").rglob("*.*") if each.suffix in {".md", ".ipynb"}),
]
LOCAL = ("local-brr", "local-piecewise", "local-hybrid", "local-duchi")


def assert_says(page, *sentences):
    told = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    for each in sentences:
        assert each in told, f"{page} does not say: {each}"


def percent(share, digits=1):
    return f"{100 * share:.{digits}f}"


def final(mechanism, epsilon, network="paper-cnn"):
    """The accuracy at the end of a training."""
    return sgd.summary(ends_of_training(), network, mechanism, epsilon, "final").mean


def ahead(epsilon, rival="paper-laplace"):
    """By how much BRR-SGD as described is ahead of a rival."""
    return training.apart(ends_of_training(), "final", epsilon, rival).mean


def gain(dataset, plan, epsilon=None, metric="accuracy"):
    """By how much a network on BRR reports is above one on Laplace's: mean, least and most."""
    found = networks.apart(rows("dnn"), dataset, plan, epsilon, metric=metric)
    return found.mean, found.low, found.high


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_page_hides_nothing_from_its_reader(page):
    assert "<!--" not in page.read_text(encoding="utf-8")


def test_a_number_that_is_not_the_measured_one_is_found():
    with pytest.raises(AssertionError, match="docs/reproduction.md does not say: Of 63 claims 18 hold"):
        assert_says("docs/reproduction.md", "Of 63 claims 18 hold")


def test_claims():
    found = Counter(row["verdict"] for row in rows("verdicts"))
    assert found.pop("undecided by this run") == 1
    assert_says(
        "docs/reproduction.md",
        f"Of {len(rows('verdicts'))} claims {found.pop('holds')} hold, "
        f"{found.pop('holds with a correction')} hold with a correction, "
        f"{found.pop('found under a reading that the paper does not state')} are found under a reading that the paper "
        f"does not state, {found.pop('does not hold')} do not hold, {found.pop('cannot be checked')} cannot be "
        "checked, and one is left undecided",
    )
    assert not found


def test_one_value_on_a_line():
    found = select(rows("qloss_by_epsilon"), points=100, epsilon=1.0)
    loss = {row["mechanism"]: f"{row['qloss']:.3f}" for row in found}
    assert_says(
        "docs/reproduction.md",
        f"at ε = 1 and N = 100 its loss is {loss['BRR']} of the range, that of always answering the middle "
        f"{loss['always the middle']}, and that of `Anchored`, the least that any ε-LDP report of a value of the line "
        f"can have, {loss['Anchored']}.",
    )


def test_places():
    found = select(rows("location_errors"), dataset=GOWALLA, scope=WHOLE, epsilon=1.0)
    km = {row["mechanism"]: f"{row['expected_km']:,.0f} km" for row in found}
    assert_says(
        "docs/reproduction.md",
        f"a BRR report is {km['BRR']} off on average, GRR's {km['GRR']} and that of the best rival of the paper, "
        f"calibrated to its ε, {km[CALIBRATED]}; always naming one place {km['one place']}, "
        f"`Anchored` {km['Anchored']}.",
    )


def test_places_of_new_york():
    sizes = [row["size"] for row in select(rows("location_maps"), dataset=FOURSQUARE)]
    below = {
        (scope, rival): percent(
            statistics.fmean(location_errors.savings(rows("location_errors"), rival, scope)[FOURSQUARE].values())
        )
        for scope in (WITHIN, WHOLE)
        for rival in (PUBLISHED, CALIBRATED)
    }
    assert_says(
        "bench/results/places.md",
        f"{len(sizes)} regions of {min(sizes)} to {max(sizes)}), where the paper reports 6.7 %: "
        f"{below[WITHIN, PUBLISHED]} % and {below[WITHIN, CALIBRATED]} % within regions, "
        f"{below[WHOLE, PUBLISHED]} % and {below[WHOLE, CALIBRATED]} % on the whole domain.",
    )


def test_places_of_the_authors():
    below = location_errors.savings(rows("location_errors"), PUBLISHED, WITHIN)[GOWALLA]
    assert_says(
        "docs/places.md",
        f"errs {percent(statistics.fmean(below.values()))} % less than one of L-SRR as published within regions, where "
        f"the paper says 8.7 %, and {percent(below[2.0])} % less at ε = 2, where it says 23.4 %",
        "is nearer to the truth than a BRR report up to ε = 1.5.",
    )


def test_places_of_other_draws():
    found = rows("location_draws")
    world = location_draws.GOWALLA_WORLD.name
    draws = location_draws.mean_savings(found, world, CALIBRATED)
    best = location_draws.mean_savings(found, world, CALIBRATED, ours=location_draws.BEST_M)
    (scripted,) = location_draws.savings(found, location_draws.AUTHORS.name, location_draws.SCRIPTED)[2.0].values()
    assert_says(
        "docs/places.md",
        f"({percent(scripted)} % with the groups of L-SRR that the authors' scripts name)",
        f"On {len(draws)} draws of 1000 from Gowalla's check-ins, with 12 to 16 regions as in the paper, a BRR report "
        f"errs {percent(-statistics.fmean(draws.values()))} % *more* than one of L-SRR calibrated to the same ε",
        f'With `m="best"` it errs {percent(statistics.fmean(best.values()))} % less.',
    )
    for pool in (location_draws.FOURSQUARE_CITY, location_draws.FOURSQUARE_US):
        counts = [row["regions"] for row in select(found, what="regions", pool=pool.name)]
        assert len(counts) == pool.seeds and not set(counts) & set(location_draws.LIKE_THE_PAPER)
    saved = [
        share
        for pool in location_draws.POOLS
        if pool.dataset == FOURSQUARE
        for share in location_draws.savings(found, pool.name, "GRR")[0.25].values()
    ]
    assert_says("bench/results/places.md", f"is more than BRR saves there on GRR ({percent(max(saved))} % at most).")


def test_guesses_of_places():
    found = select(rows("inference_errors"), scope=WHOLE)
    for dataset in (GOWALLA, FOURSQUARE):
        for epsilon in (0.25, 0.5, 1.0, 2.0):
            some = {row["mechanism"]: row for row in select(found, dataset=dataset, epsilon=epsilon)}
            anchored = some["Anchored"]
            assert anchored["inference_km"] == pytest.approx(anchored["expected_km"], rel=1e-3)
            assert anchored["expected_km"] < some["BRR"]["inference_km"] < some["GRR"]["inference_km"]
            # Guessing from GRR is hardly better than naming one place.
            assert some["GRR"]["inference_km"] > 0.995 * some["one place"]["expected_km"]


def test_which_release_of_a_place_errs_less():
    def km(dataset, mechanism):
        found = select(rows("location_errors"), dataset=dataset, scope=WHOLE, mechanism=mechanism)
        return {row["epsilon"]: row["expected_km"] for row in found}

    def where_less(dataset, one, other):
        return [epsilon for epsilon, error in km(dataset, one).items() if error < km(dataset, other)[epsilon]]

    every = list(km(GOWALLA, "BRR"))
    assert (min(every), max(every)) == (0.25, 2.0)
    assert where_less(GOWALLA, "Anchored", "Region-weighted") == where_less(GOWALLA, "Anchored", "Two-level") == every
    assert max(where_less(GOWALLA, "GRR", "Two-level")) == 1.0
    assert max(where_less(GOWALLA, "one place", "BRR")) == 1.5
    assert where_less(FOURSQUARE, "one place", "BRR") == every
    assert_says(
        "bench/results/places.md",
        "Anchored is ahead of both at every ε from 0.25 to 2; `TwoLevel` is behind even GRR up to ε = 1.",
        "up to ε = 1.5 on the authors' places, and at every ε here on those of New York, it is nearer to the truth",
    )


def test_regions_of_the_authors():
    sizes = [row["size"] for row in select(rows("location_maps"), dataset=GOWALLA)]
    assert_says(
        "bench/results/places.md",
        f"gives {len(sizes)}, with the same smallest ({min(sizes)}) and largest ({max(sizes)}).",
    )


def test_sgd_as_described():
    reached = min(final("paper-brr", each) for each in SGD_BUDGETS)
    assert_says(
        "docs/reproduction.md", f"BRR-SGD as described reaches {percent(reached, 0)} % on MNIST whatever ε is claimed"
    )
    of_the_mean = [ahead(each, "paper-laplace-of-the-mean") for each in SGD_BUDGETS]
    assert max(SGD_BUDGETS, key=ahead) == 0.1
    assert_says(
        "docs/private-sgd.md",
        f"**BRR-SGD as described is at {percent(reached, 0)} % whatever ε is**, 0.1 or 1: "
        f"within {percent(final('none', 0.0) - reached)} points of training without privacy",
        f"the advantage is {percent(ahead(0.3))}, {percent(ahead(0.5))} and {percent(ahead(0.7))} points; "
        f"the largest, at 0.1, is {percent(ahead(0.1))}.",
        f"it is {percent(min(of_the_mean), 0)} to {percent(max(of_the_mean), 0)} points at every budget",
    )


def test_sgd_with_a_curator():
    gaussian = {each: final("central-gaussian", each) for each in (0.3, 1.0)}
    beside = {each: gaussian[each] - final("paper-laplace", each) for each in gaussian}
    none = final("none", 0.0)
    assert beside[0.3] > 0
    assert_says(
        "docs/reproduction.md",
        f"is {percent(-beside[1.0])} points below the paper's Laplace rival at ε = 1 and above it at 0.3.",
    )
    assert_says(
        "bench/results/sgd.md",
        f"{percent(none - gaussian[1.0])} points at ε = 1 and {percent(none - gaussian[0.3])} points at 0.3 "
        "on the paper's network.",
        f"keeps (0.3, 0.00001) at {percent(gaussian[0.3])} % and (1, 0.00001) at {percent(gaussian[1.0])} %",
        f"at 0.3 that is {percent(beside[0.3])} points above, at 1 {percent(-beside[1.0])} below",
        f"needs ε = 1,000 for {percent(final('central-laplace', 1000.0))} % on the paper's network; "
        f"on 500 parameters ε = 10 gives {percent(final('central-laplace', 10.0, 'softmax'))} %.",
    )


def test_sgd_without_a_curator():
    def local(network, epsilon):
        found = [final(each, epsilon, network) for each in LOCAL]
        return f"{percent(min(found), 0)} to {percent(max(found), 0)} %"

    most = max(
        final(each, low, network) for each in LOCAL for low in (0.1, 1.0) for network in ("paper-cnn", "softmax")
    )
    assert_says(
        "docs/private-sgd.md",
        f"next to nothing is learnt at ε ≤ 1 (at most {percent(most, 0)} %); "
        f"ε = 10 brings the small model to {local('softmax', 10.0)} and the paper's network to "
        f"{local('paper-cnn', 10.0)}; only ε = 100, which is hardly a promise, brings {local('softmax', 100.0)} "
        f"and {local('paper-cnn', 100.0)}.",
    )


def test_networks():
    mean, least, most = gain("adult", "paper")
    at_20 = [percent(each) for each in gain("bank", "paper", 20.0)]
    ranking = [percent(each, 0) for each in gain("bank", "tuned", 3.5, "auc")]
    below = [-gain("adult", "paper", each, "auc")[0] for each in (1.5, 2.0, 2.5, 3.0)]
    assert_says(
        "docs/private-networks.md",
        f"on Adult it is {percent(-mean)} points below ({percent(-most)} to {percent(-least)}) under the paper's plan",
        f"(BRR by {at_20[0]} points under the paper's plan, {at_20[1]} to {at_20[2]})",
        f"(at ε = 3.5 by {ranking[0]} points, {ranking[1]} to {ranking[2]})",
        f"(by {percent(min(below), 0)} to {percent(max(below), 0)} points)",
    )


def test_networks_read_otherwise():
    found = rows("dnn_readings")
    coordinates, rescaled, *torch, columns, weighted, _, scripted, _, public = networks.PAIRS

    def points(pair, plan, epsilon=None, dataset="adult"):
        seen = pair.apart(found, plan, epsilon, dataset)
        mean, low, high = (round(100 * each, 1) + 0.0 for each in (seen.mean, seen.low, seen.high))
        return f"{mean:.1f} ({low:.1f} to {high:.1f})".replace("-", "−")

    def clamped(pair):
        return replace(pair, theirs="clamped-laplace")

    laplace = select(
        found, reading=public.reading, setting="tuned", mechanism="laplace", metric="accuracy", epsilon=3.5
    )
    assert [percent(row["value"]) for row in laplace] == ["75.2"] * 5
    deviations = [
        statistics.stdev(row["value"] for row in select(found, **case, setting="paper", metric="accuracy"))
        for case in (
            {"dataset": "adult", "reading": "coordinates", "mechanism": "brr", "epsilon": epsilon}
            for epsilon in (0.25, 1.0)
        )
    ]
    assert min(deviations) > 0.02
    hits = [
        [each.pair for each in networks.under_readings(found, wanted) if each.off <= wanted.within]
        for wanted in (networks.MEAN, networks.FIRST)
    ]
    assert {pair.reading for pair in hits[0]} == {"coordinates, torch 100", "coordinates, torch 512"}
    assert hits[1] == [scripted]
    starts = [points(each, "paper") for each in torch]
    assert_says(
        "docs/private-networks.md",
        f"BRR is {points(coordinates, 'tuned')} points above Laplace on average with the chosen epoch, "
        f"{points(coordinates, 'paper')} by ten epochs.",
        f"then BRR is {points(rescaled, 'tuned')} points above with the chosen epoch, but at ε = 0.25, where the paper "
        f"has 5.29, only {points(rescaled, 'tuned', 0.25)}.",
        f"{starts[0]} points on average with batches of 32 by ten epochs, {starts[1]} with 100, {starts[2]} with 512, "
        f"where the paper has 3.22; but {points(torch[1], 'paper', 0.25)} at ε = 0.25 with 100.",
        "against clamped Laplace BRR is at {}, {} and {}.".format(*(points(clamped(each), "paper") for each in torch)),
        f"for the rival: {points(weighted, 'tuned')} points with the chosen epoch.",
        f"whatever ε is: {points(scripted, 'paper')} points above the same rival by ten epochs, "
        f"{points(scripted, 'paper', 0.25)} at ε = 0.25.",
        f"14·ε for a row: {points(columns, 'tuned')} points with the chosen epoch.",
        f"BRR is {points(public, 'tuned', 3.5)} points above it at ε = 3.5 with the chosen epoch, "
        f"{points(public, 'paper', 3.5)} by ten epochs.",
        f"BRR is at {points(clamped(coordinates), 'tuned')} points on average on every coordinate with the chosen "
        f"epoch, at {points(clamped(coordinates), 'paper')} by ten epochs; only by importance and ten epochs "
        f"something is left, {points(clamped(weighted), 'paper')}.",
    )
    assert_says(
        "bench/results/networks.md",
        f"BRR is {points(coordinates, 'paper', dataset='bank')} points above Laplace by ten epochs and "
        f"{points(clamped(coordinates), 'paper', dataset='bank')} above clamped Laplace.",
    )


def test_boosting():
    made = gbdt.figures(rows("gbdt"))
    better = [1 - boosting.ratio(rows("gbdt"), task, "Laplace", 1.0).mean for task in TASKS]
    spread = [each.deviation / each.mean for key, each in made.items() if key[1:] == ("BRR", 5.0, 21)]
    slope, superconduct = (
        1 - made[task, "BRR", 5.0, 5].mean / made[task, "BRR", 5.0, 101].mean for task in ("bias-slope", "superconduct")
    )
    assert_says(
        "bench/results/paper_boosting.md",
        f"BRR is {percent(1 - boosting.ratio(rows('gbdt'), 'bias-tmax', 'Laplace').mean, 0)} % better",
        f"on all four targets, by {percent(min(better), 0)} to {percent(max(better), 0)} %",
        f"Between seeds it varies by {percent(min(spread), 0)} to {percent(max(spread), 0)} % at ε = 5",
        f"(by {percent(slope, 0)} % on the slope, {percent(superconduct, 0)} % on superconductivity)",
    )


def test_what_dpboost_spends():
    found = select(rows("dpboost_ratio"), epsilon=5.0)
    fixed, drawn = (
        {row["mechanism"]: f"e^{row['log_ratio']:.1f}" for row in found if row["build"].startswith(build)}
        for build in ("DPBoost", "each record")
    )
    assert_says(
        "bench/results/paper_boosting.md",
        f"is {fixed['Laplace']} times likelier with the fourth record when leaves have Laplace noise, "
        f"{fixed['BRR']} times with BRR. Where each record draws its own tree it is {drawn['Laplace']} and "
        f"{drawn['BRR']} times likelier",
    )
    assert_says("docs/private-boosting.md", f"spends {fixed['Laplace']} for a promised e^5")


def test_boosting_read_otherwise():
    readings = boosting.readings_of(rows("gbdt_readings"))
    equally = readings["scripted, a draw for each record: not private"]
    spans = []
    for rival in ("Laplace", "Laplace, clamped"):
        found = [boosting.ratio(equally, task, rival).mean for task in BOOSTING_SHARES]
        spans.append(f"{percent(min(found), 0)} to {percent(max(found), 0)} %")
    assert_says(
        "bench/results/paper_boosting.md",
        f"With a draw for each record its error is {spans[0]} of Laplace's and {spans[1]} of clamped Laplace's",
    )
    three = readings["three ensembles of 17"]
    slope, abalone, superconduct = (
        percent(boosting.ratio(three, task, "Laplace, clamped", 10.0).mean, 0) for task in BOOSTING_SHARES
    )
    assert_says(
        "bench/results/paper_boosting.md",
        f"At ε = 10 it gains on abalone: {abalone} % of clamped Laplace's error, and {slope} and {superconduct} % "
        "on the others",
    )
    assert all(
        abs(boosting.ratio(three, task, "Laplace").mean - share) <= 0.1 for task, share in BOOSTING_SHARES.items()
    )
    scripted = readings["as scripted: not private"]
    assert all(boosting.ratio(scripted, task, "Laplace").high < share for task, share in BOOSTING_SHARES.items())


def test_mnist_with_a_curator():
    lines = (ROOT / "bench/results/sgd-mnist.md").read_text(encoding="utf-8").splitlines()
    table = [line.strip("| ").split(" | ") for line in lines if line.startswith(("| pixels", "| scattering"))]
    means = []
    for row in table:
        seeds = [float(each) for each in row[4].split(", ")]
        half = 2.776 * statistics.stdev(seeds) / 5**0.5
        assert row[5] == f"{statistics.fmean(seeds):.2f} ± {half:.2f}"
        means.append(f"{statistics.fmean(seeds):.1f}")
    assert_says(
        "docs/private-sgd.md",
        f"is right for {means[0]} % of test pictures at ε = 1 and {means[1]} % at ε = 3;",
        f"for {means[2]} % at ε = 3 (five seeds each",
    )
