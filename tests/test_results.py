"""Numbers of the full run in sentences of the docs: each is computed from its table and read there."""

import statistics
from collections import Counter
from pathlib import Path

import pytest

from reproduction.claims.dnn import PAIRS
from reproduction.experiments import location_draws
from reproduction.experiments.gbdt_tasks import TASKS
from reproduction.experiments.places_of_the_paper import FOURSQUARE, GOWALLA
from reproduction.experiments.printed import BOOSTING_SHARES, NETWORK_GAINS, SGD_BUDGETS
from reproduction.judging import CLAIMS
from reproduction.places import BEST_M, CALIBRATED, PUBLISHED, WHOLE, WITHIN
from reproduction.registry import EXPERIMENTS
from tools import result_numbers as run
from tools.result_numbers import chosen, rows
from tools.result_tables import said

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
    return run.sgd_ends()[network, mechanism, epsilon, "final"].mean


def ahead(epsilon, rival="paper-laplace"):
    """By how much BRR-SGD as described is ahead of a rival."""
    return run.sgd_ahead(rival)["paper-cnn", epsilon].mean


def gain(dataset, plan, epsilon=None, metric="accuracy"):
    """By how much a network on BRR reports is above one on Laplace's: mean, least and most."""
    found = run.network_gain(dataset, plan, epsilon, metric)
    return found.mean, found.low, found.high


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_page_hides_nothing_from_its_reader(page):
    assert "<!--" not in page.read_text(encoding="utf-8")


def test_a_number_that_is_not_the_measured_one_is_found():
    with pytest.raises(AssertionError, match="docs/reproduction.md does not say: Of 63 claims 18 hold"):
        assert_says("docs/reproduction.md", "Of 63 claims 18 hold")


def test_claims():
    found = Counter(rows("verdicts")["verdict"])
    assert found.pop("undecided by this run") == 1
    holds, slip, part, reading, fails, unknown = (
        found.pop(each)
        for each in (
            "holds", "holds but for a slip", "holds in part", "found under a reading", "does not hold",
            "cannot be checked",
        )
    )  # fmt: skip
    assert not found
    assert_says(
        "docs/reproduction.md",
        f"Of {len(rows('verdicts'))} claims {holds} hold, {slip} hold but for a slip, {part} hold in part, {reading} "
        f"are found under a reading that the paper does not state, {fails} do not hold, {unknown} cannot be checked, "
        "and one is left undecided",
    )


def test_reviewers_find_every_claim_and_experiment():
    page = (ROOT / "docs/artifact.md").read_text(encoding="utf-8")
    cells = [line.removeprefix("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    assert {claim.says for claim in CLAIMS} <= {says for _, says, *_ in cells}
    assert {entry.name for entry in EXPERIMENTS} <= {name for _, _, run, *_ in cells for name in run.strip("`").split()}


def test_one_value_on_a_line():
    loss = (
        chosen(rows("qloss_by_epsilon"), points=100, epsilon=1.0).set_index("mechanism")["qloss"].map("{:.3f}".format)
    )
    assert_says(
        "docs/reproduction.md",
        f"at ε = 1 and N = 100 its loss is {loss['BRR']} of the range, that of always answering the middle "
        f"{loss['always the middle']}, and that of `Anchored`, the least that any ε-LDP report of a value of the line "
        f"can have, {loss['Anchored']}.",
    )


def test_places():
    found = chosen(rows("location_errors"), dataset=GOWALLA, scope=WHOLE, epsilon=1.0).set_index("mechanism")
    km = found["expected_km"].map("{:,.0f} km".format)
    assert_says(
        "docs/reproduction.md",
        f"a BRR report is {km['BRR']} off on average, GRR's {km['GRR']} and that of the best rival of the paper, "
        f"calibrated to its ε, {km[CALIBRATED]}; always naming one place {km['one place']}, "
        f"`Anchored` {km['Anchored']}.",
    )


def test_places_of_new_york():
    sizes = run.region_sizes(FOURSQUARE)
    below = {
        (scope, rival): percent(run.below(rival)[scope, FOURSQUARE].mean())
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
    below = run.below(PUBLISHED)[WITHIN, GOWALLA]
    assert_says(
        "docs/places.md",
        f"errs {percent(below.mean())} % less than one of L-SRR as published within regions, where "
        f"the paper says 8.7 %, and {percent(below[2.0])} % less at ε = 2, where it says 23.4 %",
        "is nearer to the truth than a BRR report up to ε = 1.5.",
    )


def test_places_of_other_draws():
    draws, best = (
        run.drawn_below(CALIBRATED, ours)[location_draws.GOWALLA_WORLD].groupby("seed").mean()
        for ours in ("BRR", BEST_M)
    )
    (scripted,) = run.drawn_below(location_draws.SCRIPTED)[location_draws.AUTHORS].xs(2.0, level="epsilon")
    assert_says(
        "docs/places.md",
        f"({percent(scripted)} % with the groups of L-SRR that the authors' scripts name)",
        f"On {len(draws)} draws of 1000 from Gowalla's check-ins, with 12 to 16 regions as in the paper, a BRR report "
        f"errs {percent(-draws.mean())} % *more* than one of L-SRR calibrated to the same ε",
        f'With `m="best"` it errs {percent(best.mean())} % less.',
    )
    counts = chosen(rows("location_draws"), what="regions").set_index("pool")["regions"]
    for pool, draws in ((location_draws.FOURSQUARE_CITY, 12), (location_draws.FOURSQUARE_US, 60)):
        assert len(counts[pool]) == draws
        assert not set(counts[pool]) & set(location_draws.LIKE_THE_PAPER)
    saved = run.drawn_below("GRR").xs(0.25, level="epsilon")
    most = max(saved[pool].max() for pool in saved.index.unique("pool") if pool.startswith(FOURSQUARE))
    assert_says("bench/results/places.md", f"is more than BRR saves there on GRR ({percent(most)} % at most).")


def test_guesses_of_places():
    found = chosen(rows("inference_errors"), scope=WHOLE).set_index(["mechanism", "dataset", "epsilon"]).sort_index()
    reported, guessed = found["expected_km"], found["inference_km"]
    assert guessed["Anchored"].values == pytest.approx(reported["Anchored"].values, rel=1e-3)
    assert (reported["Anchored"] < guessed["BRR"]).all()
    assert (guessed["BRR"] < guessed["GRR"]).all()
    # Guessing from GRR is hardly better than naming one place.
    assert (guessed["GRR"] > 0.995 * reported["one place"]).all()


def test_which_release_of_a_place_errs_less():
    km = chosen(rows("location_errors"), scope=WHOLE).set_index(["dataset", "epsilon", "mechanism"])["expected_km"]

    def where_less(dataset, one, other):
        of = km[dataset].unstack()
        return list(of.index[of[one] < of[other]])

    every = list(km[GOWALLA].index.unique("epsilon"))
    assert (min(every), max(every)) == (0.25, 2.0)
    assert where_less(GOWALLA, "Anchored", "Region-weighted") == where_less(GOWALLA, "Anchored", "Two-level") == every
    assert max(where_less(GOWALLA, "GRR", "Two-level")) == 1.0
    assert max(where_less(GOWALLA, "one place", "BRR")) == 1.5
    assert where_less(FOURSQUARE, "one place", "BRR") == every
    assert_says(
        "bench/results/places.md",
        "Anchored is ahead of both at every ε from 0.25 to 2; `two_level` is behind even GRR up to ε = 1.",
        "up to ε = 1.5 on the authors' places, and at every ε here on those of New York, it is nearer to the truth",
    )


def test_regions_of_the_authors():
    sizes = run.region_sizes(GOWALLA)
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


def test_sgd_on_a_small_network():
    sums, more, clamped = (
        [run.small_network_ahead(rival)[at].mean for at in (0.3, 0.5, 0.7)]
        for rival in ("paper-laplace", "paper-laplace-x4", "paper-laplace-x4-in-half")
    )
    assert_says(
        "docs/private-sgd.md",
        "at 0.3, 0.5 and 0.7 BRR-SGD is {}, {} and {} points ahead of Laplace noise on the sum,".format(
            *map(percent, sums)
        ),
        "{}, {} and {} ahead of four times that noise,".format(*map(percent, more)),
        f"at most {percent(max(clamped))} ahead of the latter clamped to its own range",
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
    coordinates, rescaled, *torch, columns, weighted, _, scripted, _, public = PAIRS

    def points(pair, plan, epsilon=None, dataset="adult"):
        return said(run.reading_gain(pair, plan, epsilon, dataset)).replace("-", "−")

    def clamped(pair):
        return pair._replace(theirs="clamped-laplace")

    found = chosen(rows("dnn_readings"), metric="accuracy")
    laplace = chosen(found, reading=public.reading, setting="tuned", mechanism="laplace", epsilon=3.5)["value"]
    assert [percent(each) for each in laplace] == ["75.2"] * 5
    ours = chosen(found, dataset="adult", reading="coordinates", mechanism="brr", setting="paper")
    assert (ours.groupby("epsilon")["value"].std()[[0.25, 1.0]] > 0.02).all()
    hits = {
        at: [pair for pair in PAIRS for plan in ("paper", "tuned")
             if abs(run.reading_gain(pair, plan, epsilon).mean - NETWORK_GAINS[at]) <= within]
        for at, epsilon, within in (("mean", None, 0.01), ("at 0.25", 0.25, 0.02))
    }  # fmt: skip
    assert {pair.reading for pair in hits["mean"]} == {"coordinates, torch 100", "coordinates, torch 512"}
    assert hits["at 0.25"] == [scripted]
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
    made, ratios = run.gbdt_errors(), run.gbdt_ratios("Laplace")
    better = [1 - ratios[task, 1.0].mean for task in TASKS]
    spread = [each.deviation / each.mean for key, each in made.items() if key[1:] == ("BRR", 5.0, 21)]
    slope, superconduct = (
        1 - made[task, "BRR", 5.0, 5].mean / made[task, "BRR", 5.0, 101].mean for task in ("bias-slope", "superconduct")
    )
    assert_says(
        "bench/results/paper_boosting.md",
        f"BRR is {percent(1 - ratios['bias-tmax', 5.0].mean, 0)} % better",
        f"on all four targets, by {percent(min(better), 0)} to {percent(max(better), 0)} %",
        f"Between seeds it varies by {percent(min(spread), 0)} to {percent(max(spread), 0)} % at ε = 5",
        f"(by {percent(slope, 0)} % on the slope, {percent(superconduct, 0)} % on superconductivity)",
    )


def test_what_dpboost_spends():
    found = chosen(rows("dpboost_ratio"), epsilon=5.0).set_index(["build", "mechanism"])["log_ratio"]
    times = found.map("e^{:.1f}".format)
    fixed, drawn = times["DPBoost as published: unsound"], times["each record draws its tree"]
    assert_says(
        "bench/results/paper_boosting.md",
        f"is {fixed['Laplace']} times likelier with the fourth record when leaves have Laplace noise, "
        f"{fixed['BRR']} times with BRR. Where each record draws its own tree it is {drawn['Laplace']} and "
        f"{drawn['BRR']} times likelier",
    )
    assert_says("docs/private-boosting.md", f"spends {fixed['Laplace']} for a promised e^5")


def test_boosting_read_otherwise():
    of_laplace, of_clamped = (run.gbdt_ratios_read_otherwise(rival) for rival in ("Laplace", "Laplace, clamped"))
    spans = []
    for of in (of_laplace, of_clamped):
        found = [of["scripted, a draw for each record: not private", task, 5.0].mean for task in BOOSTING_SHARES]
        spans.append(f"{percent(min(found), 0)} to {percent(max(found), 0)} %")
    three = "three ensembles of 17"
    slope, abalone, superconduct = (percent(of_clamped[three, task, 10.0].mean, 0) for task in BOOSTING_SHARES)
    assert_says(
        "bench/results/paper_boosting.md",
        f"With a draw for each record its error is {spans[0]} of Laplace's and {spans[1]} of clamped Laplace's",
        f"At ε = 10 it gains on abalone: {abalone} % of clamped Laplace's error, and {slope} and {superconduct} % "
        "on the others",
    )
    assert all(abs(of_laplace[three, task, 5.0].mean - share) <= 0.1 for task, share in BOOSTING_SHARES.items())
    scripted = "as scripted: not private"
    assert all(of_laplace[scripted, task, 5.0].high < share for task, share in BOOSTING_SHARES.items())


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
