"""Several attributes: whoever reported one is counted for it, in every container."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bipartite as bp
from bipartite.answers.estimation.attributes import columns_of
from bipartite.errors import DataError, InputError

AGES = bp.BRR(bp.Integers(18, 30), epsilon=2, edges="padded")
PETS = bp.GRR(bp.Items(["cat", "dog", "fish"], loss=1 - np.eye(3)), epsilon=2)
PARTS = bp.BRR(bp.Interval(0, 1, points=5), epsilon=2, edges="padded")
MECHANISMS = {"age": AGES, "pet": PETS, "part": PARTS}
CONTAINERS = {"list": list, "numpy": np.array, "pandas": pd.Series, "polars": pl.Series, "arrow": pa.array}


def people(count):
    rng = np.random.default_rng(1)
    return {
        "age": rng.integers(18, 31, count).tolist(),
        "pet": rng.choice(["cat", "dog", "fish"], count, p=[0.5, 0.3, 0.2]).tolist(),
        "part": rng.choice(np.linspace(0, 1, 5), count).tolist(),
    }


@pytest.mark.grid(4)
@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("sample", [None, 1, 2])
def test_every_container_gives_the_same_estimates(container, sample):
    record = bp.Record(MECHANISMS, sample=sample)
    values = people(300)
    plain = record.privatize(values, rng=bp.insecure_seed(3))
    reports = record.privatize({name: container(column) for name, column in values.items()}, rng=bp.insecure_seed(3))
    found = bp.estimate(record, reports)
    for name, mechanism in MECHANISMS.items():
        told = [report for report in plain[name] if report is not None]
        assert found[name].nobs == len(told)
        assert np.array_equal(found[name].shares, bp.estimate(mechanism, told).shares)
    assert sum(each.nobs for each in found.values()) == 300 * (sample or 3)
    assert "attributes" in repr(found)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_frame_of_reports_will_do(frame):
    record = bp.Record(MECHANISMS)
    reports = record.privatize(people(50), rng=bp.insecure_seed(3))
    assert bp.estimate(record, frame(reports))["age"].mean == bp.estimate(record, reports)["age"].mean


def test_reports_of_single_people_will_do():
    record = bp.Record(MECHANISMS, sample=2)
    words = bp.insecure_seed(3)
    values = people(60)
    each = [record.privatize({name: values[name][at] for name in values}, rng=words) for at in range(60)]
    found = bp.estimate(record, each)
    assert sum(estimate.nobs for estimate in found.values()) == 120
    together = {name: [report.get(name) for report in each] for name in values}
    assert found["age"].mean == bp.estimate(record, together)["age"].mean


def test_groups_and_weights_go_with_those_who_reported():
    record = bp.Record(MECHANISMS, sample=1)
    reports = record.privatize(people(400), rng=bp.insecure_seed(3))
    label = np.arange(400) % 2
    found = bp.estimate(record, reports, by=label)
    odd = {name: column[1::2] for name, column in reports.items()}
    assert found["pet"][1].nobs == bp.estimate(record, odd)["pet"].nobs
    assert np.array_equal(found["pet"][1].shares, bp.estimate(record, odd)["pet"].shares)
    weighted = bp.estimate(record, reports, weights=pd.Series(label))
    assert np.allclose(weighted["pet"].shares, found["pet"][1].shares)
    frame = found.to_frame()
    assert {"attribute", "group", "value"} <= set(frame.columns)


def test_who_is_drawn_for_an_attribute_does_not_bias_it():
    mech = bp.GRR(bp.Integers(0, 2), epsilon=1)
    record = bp.Record({"a": mech, "b": mech}, sample=1)
    reports = record.privatize({"a": [0, 2] * 20_000, "b": [1, 1] * 20_000}, rng=bp.insecure_seed(5))
    found = bp.estimate(record, reports)
    # Within 6.5 standard errors but for a chance of 8e-11 each; 2 instead of 1 would be seen.
    for name in ("a", "b"):
        assert abs(found[name].mean - 1) < 6.5 * found[name].ask("mean").se < 0.5


def test_what_is_no_table_of_reports_is_refused():
    record, sampled = bp.Record(MECHANISMS), bp.Record(MECHANISMS, sample=1)
    reports = record.privatize(people(4), rng=bp.insecure_seed(3))
    with pytest.raises(InputError, match="Expected reports of 'pet', got none; add"):
        bp.estimate(record, {"age": reports["age"], "part": reports["part"]})
    with pytest.raises(InputError, match="one report; pass a list"):
        bp.estimate(record, {**reports, "age": 20})
    with pytest.raises(InputError, match="dict of columns, got int"):
        bp.estimate(record, 3)
    with pytest.raises(InputError, match="same people in every column"):
        bp.estimate(record, {**reports, "age": reports["age"][:2]})
    with pytest.raises(InputError, match="Expected 1 attributes from every person"):
        bp.estimate(sampled, reports)
    with pytest.raises(DataError, match="age: .*missing"):
        bp.estimate(record, {**reports, "age": [None, *reports["age"][1:]]})
    with pytest.raises(DataError, match="age: 1 of 4 reports are missing"):
        bp.estimate(record, {**reports, "age": np.ma.MaskedArray(reports["age"], [1, 0, 0, 0])})
    assert bp.estimate(record, {**reports, "age": [None, *reports["age"][1:]]}, nulls="drop")["age"].nobs == 3
    with pytest.raises(InputError, match="age: Expected nulls='error' or 'drop', got 'skip'"):
        bp.estimate(record, reports, nulls="skip")
    # Hidden, or not a number: both are missing, and everybody else stays in their place.
    parts = np.ma.MaskedArray([np.nan, *reports["part"][1:]], [0, 1, 0, 0])
    assert columns_of(record, {**reports, "part": parts}, "drop")["part"].there.tolist() == [False, False, True, True]
    with pytest.raises(DataError, match="part: 2 of 4 reports are missing"):
        bp.estimate(record, {**reports, "part": parts})
    with pytest.raises(DataError, match="age: 1 report, the first at reports.0., cannot have come from"):
        bp.estimate(record, {**reports, "age": [1000, *reports["age"][1:]]})
    with pytest.raises(InputError, match=r"reports\[1\] as a dict of 1 of"):
        bp.estimate(sampled, [{"age": 20}, {"age": 20, "pet": "cat"}])
    with pytest.raises(InputError, match="each attribute on its own"):
        bp.estimate(record, counts=[1])
    with pytest.raises(InputError, match="age: .*no reports"):
        bp.estimate(sampled, [{"pet": "cat"}])
    with pytest.raises(InputError, match="one entry per person"):
        bp.estimate(sampled, sampled.privatize(people(9), rng=bp.insecure_seed(1)), by=[1, 2])
    with pytest.raises(KeyError, match="no attribute 'size'"):
        bp.estimate(record, reports)["size"]
    assert columns_of(record, reports)["pet"].there.all()
