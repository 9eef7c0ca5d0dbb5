"""A consumer's file: mypy --strict and pyright --strict check the types that it asserts, pytest runs it."""

# pyright: strict

from pathlib import Path
from typing import Any, assert_type

import numpy as np
import polars as pl
from numpy.typing import NDArray

import bipartite as bp
from bipartite.answers.advise import Comparison
from bipartite.answers.estimation import Estimate, Estimates
from bipartite.verification import Certificate

AGES = bp.Integers(18, 90)


def test_what_comes_in_comes_out() -> None:
    mech = bp.BRR(AGES, epsilon=1.0)
    assert isinstance(assert_type(mech.privatize(40), int), int)
    assert isinstance(assert_type(mech.privatize([23, 40, 71]), list[int]), list)
    assert isinstance(assert_type(mech.privatize((23, 40)), tuple[Any, ...]), tuple)
    assert isinstance(assert_type(mech.privatize(np.arange(18, 90)), NDArray[Any]), np.ndarray)
    assert isinstance(assert_type(mech.privatize(pl.Series([23, 40])), pl.Series), pl.Series)
    incomes = bp.BRR(bp.Interval(0, 200_000, points=401), epsilon=1)
    assert isinstance(assert_type(incomes.privatize(51_000.0, outside="clip"), float), float)
    genres = bp.GRR(bp.Items(["drama", "noir", "farce"], loss=1 - np.eye(3)), epsilon=2)
    assert isinstance(assert_type(genres.privatize("noir"), str), str)
    assert isinstance(assert_type(bp.OUE(AGES, epsilon=1).privatize([23, 40]), NDArray[Any]), np.ndarray)


def test_from_reports_to_answers() -> None:
    survey = bp.BRR(AGES, epsilon=1.0, edges="padded", m="mean")
    reports = survey.privatize([25] * 900 + [60] * 1_100, rng=bp.insecure_seed(7))
    est = assert_type(bp.estimate(survey, reports), Estimate)
    low, high = est.ask("mean").ci(0.95)
    assert low < assert_type(est.mean, float) < high
    assert assert_type(est.cdf(), NDArray[np.float64])[-1] > 0.5
    by_half = assert_type(bp.estimate(survey, reports, by=["a", "b"] * 1_000), Estimates)
    assert bp.difference(by_half["a"], by_half["b"]).interval.low < 0 < 100 * float(est.shares.sum())
    record = bp.Record({"age": survey, "visits": bp.GRR(bp.Integers(0, 9), epsilon=1)})
    columns = assert_type(record.privatize({"age": [25, 60], "visits": [3, 4]}), dict[str, list[Any]])
    assert list(assert_type(bp.estimate(record, columns), Estimates)) == ["age", "visits"]


def test_before_and_around_it(tmp_path: Path) -> None:
    compared = assert_type(bp.compare(AGES, epsilon=1, n=10_000), Comparison)
    assert "BRR" in assert_type(compared.recommendation, str)
    mech = bp.from_spec(bp.BRR(AGES, epsilon=1).to_spec())
    certificate = assert_type(bp.verify(mech), Certificate)
    assert certificate.holds
    with bp.Ledger(tmp_path / "spent.db", budget=4, period="month") as ledger:
        assert ledger.report("ada", "age", bp.BRR(AGES, epsilon=1), 37) in AGES.to_numpy()
        assert ledger.remaining("ada") == 3
    plan = bp.Plan({"age": bp.BRR(AGES, epsilon=1), "country": "public"})
    frame = pl.DataFrame({"age": [40, 52], "country": ["DE", "FR"]})
    assert assert_type(bp.privatize_frame(frame, plan), pl.DataFrame)["country"].to_list() == ["DE", "FR"]
