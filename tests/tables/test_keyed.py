"""Reports keyed by row: the same row has the same report wherever and however often it is computed."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import bipartite as bp
from bipartite.errors import InputError, OutsideDomainError
from bipartite.tables import Column, Plan
from bipartite.tables.keyed import KeyedRelease, id_bytes
from tests.tables.keyed_oracle import report

KEY = bytes(range(32))
AGE = bp.BRR(bp.Integers(18, 90), epsilon=1)
INCOME = bp.BRR(bp.Interval(0, 200_000, points=401), "0.5", edges="padded")
SHOPS = bp.Points([[52.5, 13.4], [48.9, 2.35], [51.5, -0.13], [40.4, -3.7], [41.9, 12.5]], metric="haversine")
MECHANISMS = {
    "line": (AGE, list(range(18, 91))),
    "padded": (INCOME, [0.0, 500.0, 120_000.0]),
    "grr": (bp.GRR(bp.Integers(1, 5), 1), [1, 2, 5]),
    "rows": (bp.Exponential(bp.Integers(1, 9), 1), [1, 4, 9]),
    "noise": (bp.Laplace(bp.Interval(0, 1, points=11), 1), [0.0, 0.5, 1.0]),
    "grouped": (bp.Anchored(bp.Integers(18, 90), 1), [18, 40, 90]),
    "tries": (bp.BRR(SHOPS, 1), [0, 1, 4]),
    "listed": (bp.BRR(bp.Points(np.arange(400.0).reshape(200, 2)), 6, m=1), [0, 7, 199]),
    "labels": (bp.GRR(bp.Items(["red", "green", "blue"], loss=1 - np.eye(3)), 1), ["red", "blue"]),
}


def release(mech, values, ids, key=KEY, **options):
    batch = pa.RecordBatch.from_pydict({"x": values})
    return KeyedRelease(Plan({"x": Column(mech, **options)}), key).privatize_rows(batch, pa.array(ids))


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("ids", ["numbers", "texts"])
def test_each_row_has_the_report_of_its_own_words(name, ids):
    mech, held = MECHANISMS[name]
    values = [held[at % len(held)] for at in range(120)]
    rows = list(range(-60, 60)) if ids == "numbers" else [f"row {at} ε" for at in range(120)]
    found = release(mech, values, rows).column("x").to_pylist()
    assert found == [report(KEY, mech, "x", row, value)[0] for row, value in zip(rows, values, strict=True)]


def test_rows_that_must_be_redrawn_take_their_next_word():
    # The mechanism that redraws most often; 40,000 rows redraw about 5 times.
    mech = max((bp.BRR(bp.Integers(0, n), 1) for n in range(50, 90)), key=lambda each: 2**64 % each.lottery.total)
    values = [at % 50 for at in range(40_000)]
    found = release(mech, values, list(range(40_000))).column("x").to_pylist()
    oracle = [report(KEY, mech, "x", row, value) for row, value in enumerate(values)]
    assert found == [each for each, _ in oracle]
    assert sum(taken > 1 for _, taken in oracle) >= 1


def test_order_and_batches_do_not_matter_and_key_column_spec_and_value_do():
    values, rows = [20 + at % 60 for at in range(400)], list(range(400))
    whole = release(AGE, values, rows).column("x").to_pylist()
    assert release(AGE, values[::-1], rows[::-1]).column("x").to_pylist() == whole[::-1]
    parts = [release(AGE, values[at : at + 7], rows[at : at + 7]).column("x").to_pylist() for at in range(0, 400, 7)]
    assert [each for part in parts for each in part] == whole

    # Two independent reports agree with probability at most Σ p² < 0.03: more than 60 of 400 by accident, below 1e-20.
    def agreeing(other):
        return sum(a == b for a, b in zip(whole, other, strict=True))

    assert agreeing(release(AGE, values, rows, key=bytes(32)).column("x").to_pylist()) < 60
    assert agreeing(release(bp.BRR(bp.Integers(18, 90), "1.0000001"), values, rows).column("x").to_pylist()) < 60
    assert agreeing(release(AGE, values, [row + 1000 for row in rows]).column("x").to_pylist()) < 60
    named = KeyedRelease(Plan({"y": AGE}), KEY)
    assert (
        agreeing(named.privatize_rows(pa.RecordBatch.from_pydict({"y": values}), pa.array(rows))["y"].to_pylist()) < 60
    )


def test_a_row_whose_value_changed_has_words_of_its_own():
    # With shared words near values would give reports that differ by exactly one: that is what must not happen.
    first = np.array(release(AGE, [50] * 2000, list(range(2000))).column("x"))
    second = np.array(release(AGE, [51] * 2000, list(range(2000))).column("x"))
    by_one = int((second - first == 1).sum())
    # Independent: Pr[second − first = 1] = Σ_y P[50, y]·P[51, y + 1] = 0.0166; mean 33, above 90 below 1e-15.
    matrix = AGE.matrix()
    assert abs(float((matrix[32, :-1] * matrix[33, 1:]).sum()) - 0.0166) < 0.001
    assert by_one < 90


def test_keyed_reports_follow_the_law_of_the_mechanism():
    mech = bp.BRR(bp.Integers(1, 8), 1)
    found = np.array(release(mech, [3] * 20_000, list(range(20_000))).column("x"))
    counts = np.bincount(found - 1, minlength=8)
    assert stats.chisquare(counts, mech.matrix()[2] * 20_000).pvalue > 1e-6  # the false-alarm rate
    assert stats.chisquare(counts, mech.matrix()[4] * 20_000).pvalue < 1e-9  # the power: another value's law


def test_missing_clipped_and_bad_values_are_those_of_a_plain_release():
    found = release(AGE, [40, None, 200], [1, 2, 3], nulls="keep", outside="clip").column("x").to_pylist()
    assert found == [report(KEY, AGE, "x", 1, 40)[0], None, report(KEY, AGE, "x", 3, 90)[0]]
    with pytest.raises(
        OutsideDomainError, match="column 'x': 1 of the 2 rows of this batch .* row 2 is outside 18..90"
    ):
        release(AGE, [40, 918_273], [1, 2])


def test_ids_are_told_apart_whatever_their_type():
    kinds = [pa.array([1, 2]), pa.array([1, 2], pa.int16()), pa.array(["1", "2"]), pa.array([b"1", b"2"])]
    held = [id_bytes(each) for each in kinds]
    assert held[0] == held[1] and len({each for ids in held for each in ids}) == 6
    with pytest.raises(InputError, match="Expected an id for every row, got a row without"):
        id_bytes(pa.array([1, None]))
    with pytest.raises(InputError, match="Expected row ids as whole numbers, text or bytes, got double"):
        id_bytes(pa.array([1.5]))


def test_random_rounding_has_no_encoded_value_to_key_with():
    mech = bp.BRR(bp.Interval(0, 1, points=11, rounding="random"), 1)
    with pytest.raises(InputError, match="column 'x': Expected rounding='nearest' with row_id, got 'random'"):
        KeyedRelease(Plan({"x": mech}), KEY)
