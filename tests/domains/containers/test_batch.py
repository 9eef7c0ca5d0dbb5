import enum
import math

import numpy as np
import pytest

from bipartite import BRR, Integers, Interval, insecure_seed
from bipartite.errors import InputError, NotAValueError, NullError, OutsideDomainError

AGES = BRR(Integers(18, 90), epsilon=1)
INCOME = BRR(Interval(0, 200_000, points=401), epsilon=1)


@pytest.mark.parametrize(
    ("values", "kind", "element"),
    [
        ([20, 30, 40], list, int),
        ((20, 30, 40), tuple, int),
        ([20.0, 30, 40], list, int),
        ([np.int8(20), 30], list, int),
        ([], list, int),
        ((), tuple, int),
        (40, int, None),
        (40.0, int, None),
        (np.int16(40), np.int64, None),
        (np.float32(40), np.int64, None),
    ],
)
def test_the_same_kind_comes_back(values, kind, element):
    reports = AGES.privatize(values)
    assert type(reports) is kind
    if element:
        assert len(reports) == len(values)
        assert all(type(report) is element for report in reports)


def test_arrays_keep_their_shape_whatever_their_layout():
    grid = np.arange(18, 78).reshape(3, 4, 5)
    expected = AGES.privatize(grid.ravel(), rng=insecure_seed(1)).reshape(3, 4, 5)
    for layout in (
        grid,
        np.asfortranarray(grid),
        np.repeat(grid, 2, axis=1)[:, ::2],
        grid.astype(">i8"),
        grid.astype("<i2"),
    ):
        reports = AGES.privatize(layout, rng=insecure_seed(1))
        assert (reports == expected).all()
    assert AGES.privatize(np.array(40)).shape == ()
    assert AGES.privatize(np.zeros((0, 3), dtype=int)).shape == (0, 3)


def test_the_callers_array_is_never_changed():
    for dtype in (np.int64, np.int32, np.float64):
        values = np.arange(18, 91).astype(dtype)
        before = values.copy()
        reports = AGES.privatize(values)
        assert (values == before).all()
        assert not np.shares_memory(values, reports)
    frozen = np.arange(18, 91)
    frozen.flags.writeable = False
    assert len(AGES.privatize(frozen)) == 73


def test_arrays_that_may_not_be_written_serve_every_kernel(tmp_path):
    compiled = pytest.importorskip("bipartite.lottery.compiled")
    assert compiled
    file = tmp_path / "ages.bin"
    np.full(5000, 40).tofile(file)
    for values in (
        np.memmap(file, dtype=np.int64, mode="r"),
        np.frombuffer(file.read_bytes(), dtype=np.int64),
        np.broadcast_to(np.int64(40), 5000),
    ):
        assert not values.flags.writeable
        assert len(AGES.privatize(values)) == 5000


class Answer(enum.IntEnum):
    YOUNG = 20
    OLD = 80


def test_kinds_of_int_come_back_as_int():
    assert type(AGES.privatize(Answer.YOUNG)) is int
    assert all(type(report) is int for report in AGES.privatize([Answer.YOUNG, Answer.OLD]))


@pytest.mark.parametrize("value", [np.timedelta64(40, "ns"), np.timedelta64(40, "D"), np.timedelta64("NaT", "ns")])
@pytest.mark.parametrize("mechanism", [AGES, INCOME])
def test_a_duration_is_no_number(mechanism, value):
    with pytest.raises(NotAValueError, match="is not a number; pass an int or a float"):
        mechanism.privatize(value)


def test_floats_of_every_width_are_read_as_doubles_in_every_container():
    # 90 + 1e-17 and 1 + 1e-19 are not doubles; the doubles nearest to them are inside.
    above = np.longdouble(90) + np.longdouble(1e-17)
    for values in (above, [above], np.array([above])):
        AGES.privatize(values)
    beyond = 2**60 + 1
    wide = BRR(Interval(0, 2.0**60, points=101), epsilon=1)
    for values in (beyond, [beyond], np.array([beyond])):
        wide.privatize(values)


def test_large_whole_numbers_in_a_list_are_what_they_are():
    wide = BRR(Interval(0, 1e25, points=101), epsilon=30, m=1)
    assert wide.privatize([10**25] * 5) == [1e25] * 5
    assert wide.privatize([10**25, 0]) == [1e25, 0.0]
    with pytest.raises(OutsideDomainError, match="values\\[0\\] is outside"):
        wide.privatize([10**400, 1.0])
    assert all(type(report) is int for report in AGES.privatize([10**30, 20], outside="clip"))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({1, 2}, "got set; convert it first"),
        ({"a": 1}, "got dict; convert it first"),
        (range(20, 30), "got range; convert it first"),
        (np.array([True, False]), "got bool; use .astype\\(int\\)"),
        (np.array(["a"]), "got <U1; use .astype\\(float\\)"),
        (np.array([20, None]), "got object; use .astype"),
        (np.array([20j]), "got complex128; use .astype"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "use .astype"),
        (np.ma.masked_array([20, 30], mask=[True, False]), "got a masked array; pass values.compressed\\(\\)"),
    ],
)
def test_other_containers_are_refused_with_advice(values, message):
    with pytest.raises(InputError, match=message):
        AGES.privatize(values)


@pytest.mark.parametrize(
    "wrong", ["x", True, [1], 1j, np.bool_(1), np.timedelta64(40, "ns"), np.timedelta64("NaT", "ns")]
)
def test_a_list_with_something_that_is_no_number_names_its_place(wrong):
    with pytest.raises(NotAValueError, match="values\\[1\\] is not a number \\(found .*\\); pass ints or floats"):
        AGES.privatize([20, wrong, 30])


def test_missing_values_are_refused_unless_they_may_be_published():
    with pytest.raises(
        NullError, match="2 of 4 values are missing, the first at values\\[1\\]; remove it.*nulls='keep'"
    ):
        AGES.privatize([20, None, 30, None])
    with pytest.raises(NullError, match="The value is missing; remove it"):
        AGES.privatize(None)
    kept = AGES.privatize([20, None, 30, None], nulls="keep", rng=insecure_seed(1))
    assert kept[1] is None
    assert kept[3] is None
    assert [kept[0], kept[2]] == AGES.privatize([20, 30], rng=insecure_seed(1))
    assert AGES.privatize(None, nulls="keep") is None
    assert AGES.privatize([None], nulls="keep") == [None]


def test_nan_is_a_null_of_float_arrays_where_nulls_are_kept():
    values = np.array([[20.0, math.nan], [math.nan, 40.0]])
    kept = AGES.privatize(values, nulls="keep")
    assert np.isnan(kept).tolist() == [[False, True], [True, False]]
    assert math.isnan(AGES.privatize(math.nan, nulls="keep"))
    with pytest.raises(OutsideDomainError, match="1 of 2 values cannot be reported: values\\[1, 1\\] is outside"):
        AGES.privatize(np.array([[20.0, math.nan], [math.nan, 400.0]]), nulls="keep")
    with pytest.raises(OutsideDomainError, match="values\\[2\\] is outside"):
        AGES.privatize([20, None, 400], nulls="keep")


def test_whole_numbers_beyond_int64_stay_outside():
    with pytest.raises(OutsideDomainError, match="2 of 3 values cannot be reported: values\\[1\\] is outside"):
        AGES.privatize([20, 10**30, -(10**30)])
    with pytest.raises(OutsideDomainError, match="1 of 2 values"):
        AGES.privatize([20.0, 10**400])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"outside": "wrap"}, "Expected outside='error' or 'clip', got 'wrap'"),
        ({"nulls": "drop"}, "Expected nulls='error' or 'keep', got 'drop'"),
        ({"threads": 0}, "Expected threads as a whole number of at least 1, got 0"),
        ({"threads": 1.5}, "Expected threads as a whole number of at least 1, got 1.5"),
        ({"threads": True}, "Expected threads as a whole number"),
        ({"outside": 1, "nulls": 2, "threads": 3j}, "3 problems:"),
        ({"outside": [], "nulls": {}, "threads": np.ones(2)}, "3 problems:"),
    ],
)
def test_options_are_checked_all_at_once(options, message):
    with pytest.raises(InputError, match=message):
        AGES.privatize([20], **options)
