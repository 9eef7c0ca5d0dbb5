"""The SGD experiments on scikit-learn's small digits: what is trained, chosen, measured and compared."""

import pandas as pd
import pytest

from bipartite.errors import InputError
from bipartite.learn import Steps
from reproduction.claims.sgd import CLAIMS
from reproduction.experiments import sgd, sgd_mlp, sgd_readings, sgd_training
from reproduction.experiments.protocols import AdaptiveLaplace, HalfIntervalBRR, protocol_of
from reproduction.experiments.sgd_training import rows_of
from reproduction.form import frame
from reproduction.tests.committed import table

TINY = {"data": "digits", "people": 1000, "held_out": 200, "batch": 100, "steps": 12}
ONE = TINY | {"network": "softmax", "learning_rates": (0.1,), "seed": 0}
GRID = sgd.FULL.but(
    **{name: (value,) for name, value in TINY.items()},
    network=("softmax",),
    learning_rates=((0.1,),),
    seed=(0, 1),
    release=(
        ("none", 0.0),
        ("central-gaussian", 3.0),
        *sgd.releases(["central-laplace", "local-brr", "local-duchi"], [100.0]),
        *sgd.releases(sgd.PROTOCOLS, [0.3, 1.0]),
    ),
)


@pytest.fixture(scope="module", autouse=True)
def asked():
    """The accountant takes seconds and has tests of its own; here it answers at once, and what it is asked is kept."""
    calls = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sgd_training, "gaussian_multiplier", lambda *question: calls.append(question) or 1.25)
        yield calls
    sgd_training._multiplier.cache_clear()


@pytest.fixture(scope="module")
def rows():
    return frame([row for point in GRID for row in sgd.measure(**point)])


@pytest.mark.usefixtures("rows")
def test_noise_is_accounted_for_the_budget_and_the_schedule(asked):
    assert set(asked) == {(3.0, 1e-5, Steps(12, 0.1))}


def test_rows_hold_curves_and_what_they_amount_to(rows):
    own = rows[(rows["mechanism"] == "none") & (rows["seed"] == 0)]
    curve = own.loc[own["measure"] == "accuracy", "value"].tolist()
    assert len(curve) == 12
    measured = own.set_index("measure")["value"]
    last = curve[-2:]
    assert measured["final"] == pytest.approx(sum(last) / 2)
    assert measured["stability"] == pytest.approx(abs(last[0] - last[1]) / 2)
    arrived = next(step for step, value in enumerate(curve, 1) if value >= 0.9 * measured["final"])
    assert measured["convergence"] == arrived


def test_learning_happens_where_it_should(rows):
    finals = rows[rows["measure"] == "final"].groupby(["mechanism", "epsilon"])["value"].mean()
    assert finals["none", 0] > 0.5  # guessing is right for one in ten
    assert finals["central-gaussian", 3] > 0.4
    # It publishes signs, so that it learns at any claimed ε; noise of the mean, a hundred times larger, drowns all.
    assert finals["paper-brr", 0.3] > 0.4
    rival = {"paper-laplace-of-the-mean": ""}
    assert sgd.ahead_of(rows[rows["measure"] == "final"], rival)["points"].min() > 20


def test_no_row_and_no_verdict_shows_the_papers_protocols_as_private(rows):
    described = rows["mechanism"].str.startswith("paper") | (rows["mechanism"] == "none")
    assert ((rows["spent"] == "∞") == described).all() and ((rows["model"] == "none") == described).all()
    assert set(rows.loc[rows["mechanism"] == "central-gaussian", "spent"]) == {3}
    for claim in CLAIMS:
        found = claim.judge({name: table(name) for name in claim.needs})
        assert "ε = ∞" in found.measured + found.finding, claim.key


def test_settings_are_chosen_on_held_out_people():
    def measured(*rates):
        return {row["measure"]: row for row in rows_of(**ONE | {"learning_rates": rates}, release=("none", 0.0))}

    held_out = {rate: measured(rate)["held_out"]["value"] for rate in (0.001, 0.1, 0.01)}
    assert measured(*held_out)["final"]["learning_rate"] == max(held_out, key=held_out.get)
    assert len(set(held_out.values())) == 3


def test_too_many_people_are_refused():
    with pytest.raises(InputError, match="Expected at most 1200 people beside those held out, got 5000; use fewer."):
        sgd.measure(**ONE | {"people": 5000}, release=("none", 0.0))


def test_readings_are_the_protocols_that_their_names_say():
    found = [protocol_of(name, 0.3) for name in sgd_readings.FULL.axes()["mechanism"]]
    assert found[0] == HalfIntervalBRR(0.3)
    assert found[1:] == [
        AdaptiveLaplace(0.3, times=times, in_half=in_half) for in_half in (False, True) for times in (1, 4, 5)
    ]


def test_readings_are_compared_at_the_rate_whose_mean_is_best_on_held_out_pictures():
    better_at_first = {(0.01, 0): 0.8, (0.01, 1): 0.7, (0.1, 0): 0.9, (0.1, 1): 0.3}
    rows = pd.DataFrame(
        {"mechanism": "paper-brr", "epsilon": 0.3, "learning_rate": rate, "seed": seed, "measure": measure}
        | {"value": held if measure == "held_out" else 1 - held}
        for (rate, seed), held in better_at_first.items()
        for measure in ("final", "held_out")
    )
    found = sgd_readings.at_best(rows, "final")
    assert found["learning_rate"].tolist() == [0.01, 0.01] and found["seed"].tolist() == [0, 1]


def test_the_check_for_a_cpu_trains_a_small_network_by_the_protocols_of_the_readings():
    (point, *_) = sgd_mlp.FULL.but(**{name: (value,) for name, value in TINY.items()})
    rows = frame(list(sgd_mlp.measure(**point)))
    assert set(rows["measure"]) == set(sgd.MEASURES)  # no curve
    assert rows.loc[0, ["network", "mechanism", "spent"]].tolist() == ["mlp", "paper-brr", "∞"]


@pytest.mark.data
def test_the_papers_network_trains_on_mnist():
    small = {"data": "mnist", "people": 256, "held_out": 100, "batch": 32, "steps": 2, "network": "paper-cnn"}
    found = sgd.measure(**small, learning_rates=(0.001,), seed=0, release=("paper-brr", 0.3))
    assert all(0 <= row["value"] <= 1 and row["spent"] == "∞" for row in found if row["measure"] == "final")
