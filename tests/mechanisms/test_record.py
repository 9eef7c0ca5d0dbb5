import copy
import itertools
import json
import math
import pickle
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bipartite import (
    BRR,
    OLH,
    OUE,
    RAPPOR,
    HadamardResponse,
    Integers,
    Interval,
    Items,
    Record,
    SubsetSelection,
    fixed_words,
    from_spec,
    insecure_seed,
)
from bipartite.errors import InputError, NotAValueError, NullError, OutsideDomainError

AGE = BRR(Integers(18, 90), epsilon="0.1")
INCOME = BRR(Interval(0, 200_000, points=401), epsilon="0.2")
GRADE = BRR(Interval(0, 5, points=11, rounding="random"), epsilon="0.7")
PARTS = {"age": AGE, "income": INCOME, "grade": GRADE}
ALL = Record(PARTS)
ONE = Record(PARTS, sample=1)
TWO = Record(PARTS, sample=2)
PERSON = {"age": 40, "income": 51_000.0, "grade": 3.3}
PEOPLE = {"age": [40, 50, 60, 70, 80], "income": [1e3, 2e3, 3e3, 4e3, 5e3], "grade": [0.1, 1.2, 2.3, 3.4, 4.5]}
# Four words that no lottery redraws: one for age, one for income, two for grade, which is rounded at random.
FOUR = [0x123456789ABCDEF1, 0x3456789ABCDEF123, 0x56789ABCDEF12345, 0xBCDEF123456789AB]
SENTINEL = 918_273_645


def third(number):
    """A word that draws the number-th of longest sets."""
    return (2 * number + 1) * 2**64 // 6


def test_epsilon_is_the_exact_sum_or_the_largest():
    assert (ALL.epsilon_decimal, ALL.epsilon) == (Decimal(1), 1.0)
    assert (ONE.epsilon_decimal, ONE.epsilon) == (Decimal("0.7"), 0.7)
    assert (TWO.epsilon_decimal, TWO.epsilon) == (Decimal("0.9"), 0.9)
    assert 0.1 + 0.2 != 0.3  # what floats would have said
    assert Record({"a": AGE, "b": INCOME}).epsilon == 0.3
    assert Record({"a": AGE}).epsilon_decimal == Decimal("0.1")
    assert str(ALL.epsilon_decimal) == "1"


def test_the_sum_of_very_long_decimals_is_not_rounded():
    long = ["0.000000012345678901234567891", "9.8765432109876543211"]
    record = Record({text: BRR(Integers(0, 1), text, m=1) for text in long})
    assert Fraction(record.epsilon_decimal) == sum(map(Fraction, long))
    # Decimal's own precision is 28 digits, and a sum there can be too small.
    longest = Record({text: BRR(Integers(0, 1), text, m=1) for text in ("11", "0.0000000000012345678901234567891")})
    assert Fraction(longest.epsilon_decimal) == 11 + Fraction("0.0000000000012345678901234567891")
    assert len(longest.epsilon_decimal.as_tuple().digits) > 28


def test_one_person_gets_one_report_an_attribute_in_order():
    reports = ALL.privatize(PERSON, rng=fixed_words(FOUR))
    rng = fixed_words(FOUR)
    assert reports == {name: mechanism.privatize(PERSON[name], rng=rng) for name, mechanism in PARTS.items()}
    assert list(reports) == list(PARTS)
    assert repr(rng) == "<fixed words, 0 of 4 left>"
    backwards = dict(reversed(PERSON.items()))
    assert ALL.privatize(backwards, rng=fixed_words(FOUR)) == reports
    assert [type(report) for report in reports.values()] == [int, float, float]


def test_many_people_get_what_each_mechanism_gives_in_order():
    rng = insecure_seed(3)
    expected = {name: mechanism.privatize(PEOPLE[name], rng=rng) for name, mechanism in PARTS.items()}
    assert ALL.privatize(PEOPLE, rng=insecure_seed(3)) == expected
    assert ALL.privatize(PEOPLE, rng=insecure_seed(3), threads=2) == expected


@pytest.mark.parametrize("number", range(3))
def test_a_sampled_person_reports_the_drawn_attribute_alone(number):
    words = [third(number), *FOUR]
    everything = ALL.privatize(PERSON, rng=fixed_words(words[1:]))
    name = list(PARTS)[number]
    assert ONE.privatize(PERSON, rng=fixed_words(words)) == {name: everything[name]}
    drawn = list(itertools.combinations(PARTS, 2))[number]
    assert TWO.privatize(PERSON, rng=fixed_words(words)) == {each: everything[each] for each in drawn}


def test_a_word_that_would_favour_an_attribute_is_redrawn():
    # 2^64 mod 3 = 1: of all words only 0 is redrawn.
    assert list(ONE.privatize(PERSON, rng=fixed_words([0, third(2), *FOUR]))) == ["grade"]
    assert list(ONE.privatize(PERSON, rng=fixed_words([1, *FOUR]))) == ["age"]


def test_a_list_of_one_person_reports_what_the_person_reports():
    for record in (ALL, ONE, TWO):
        for seed in range(30):
            single = record.privatize(PERSON, rng=insecure_seed(seed))
            columns = record.privatize({name: [value] for name, value in PERSON.items()}, rng=insecure_seed(seed))
            assert {name: column[0] for name, column in columns.items() if column[0] is not None} == single


def test_the_joint_law_of_sample_and_report_is_exact():
    # Both choices and all outputs by enumeration of words: the middle of each equal share of the words of a choice.
    coin = BRR(Integers(0, 1), epsilon="0.5", m=1)
    record = Record({"a": coin, "b": coin}, sample=1)
    lottery = coin.lottery
    near = lottery.near_total * 2**64 // lottery.total
    shares = {}
    for choice, a, b in itertools.product([2**61, 2**63], [near // 2, near + 2**50], [near // 2, near + 2**50]):
        weight = Fraction(1, 2) * math.prod(
            Fraction(lottery.tickets.near if word < near else lottery.tickets.far, lottery.total) for word in (a, b)
        )
        report = tuple(record.privatize({"a": 1, "b": 0}, rng=fixed_words([choice, a, b])).items())
        shares[report] = shares.get(report, 0) + weight
    likely, unlikely = (Fraction(t, 2 * lottery.total) for t in (lottery.tickets.near, lottery.tickets.far))
    assert shares == {(("a", 1),): likely, (("a", 0),): unlikely, (("b", 0),): likely, (("b", 1),): unlikely}


def columns_of(make):
    return {name: make(column) for name, column in PEOPLE.items()}


MAKERS = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "pandas": lambda column: pd.Series(column, index=list("vwxyz"), name="x"),
    "pandas nullable": lambda column: pd.Series(column, dtype="Int64" if isinstance(column[0], int) else "Float64"),
    "pandas Arrow": lambda column: pd.Series(pd.arrays.ArrowExtensionArray(pa.array(column))),
    "polars": lambda column: pl.Series("x", column),
    "Arrow": pa.array,
    "Arrow chunked": lambda column: pa.chunked_array([column[:2], column[2:]]),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("record", [ONE, TWO], ids=["one", "two"])
def test_sampled_columns_hold_nulls_where_an_attribute_was_not_drawn(record, make):
    values = columns_of(make)
    words = [third(0), third(2), third(1), third(2), third(0), *(k * 2**58 + 7 for k in range(1, 30))]
    everything = ALL.privatize(PEOPLE, rng=fixed_words(words[5:]))
    columns = record.privatize(values, rng=fixed_words(words))
    sets = list(itertools.combinations(PARTS, record.sample))
    for name, column in columns.items():
        drawn = [name in sets[number] for number in (0, 2, 1, 2, 0)]
        looked = column.to_pylist() if isinstance(column, (pa.Array, pa.ChunkedArray)) else list(column)
        looked = [None if each is np.ma.masked or pd.isna(each) else each for each in looked]
        expected = [report if mine else None for report, mine in zip(everything[name], drawn, strict=True)]
        assert looked == expected
        kind = np.ma.MaskedArray if isinstance(values[name], np.ndarray) else type(values[name])
        assert type(column) is kind
        if kind is pd.Series:
            assert column.index.tolist() == values[name].index.tolist()
            assert column.name == values[name].name


def test_no_report_that_was_not_drawn_lies_under_a_null():
    words = [third(1), *range(2**58, 2**63, 2**59)]
    under = []
    for make in (np.array, pa.array, lambda column: pd.Series(column, dtype="Int64")):
        column = ONE.privatize({"age": make([40]), "income": [1.0], "grade": [1.0]}, rng=fixed_words(words))["age"]
        if isinstance(column, np.ma.MaskedArray):
            under.append(column.data[0])
        elif isinstance(column, pd.Series):
            under.append(column.array._data[0])
        else:
            under.append(np.frombuffer(column.buffers()[1], dtype=np.int64)[0])
    # A masked array shows what nobody takes for a report when its mask is dropped.
    assert under == [np.iinfo(np.int64).min, 0, 0]


def test_labels_are_an_attribute_like_any_other():
    town = BRR(Items(["x", "y", "z"], loss=[[0, 1, 2], [1, 0, 1], [2, 1, 0]]), epsilon="0.5")
    record = Record({"age": AGE, "town": town}, sample=1)
    assert record.epsilon_decimal == Decimal("0.5")
    words = [2**62, 3 * 2**62, *FOUR]
    for make in (list, np.array):
        columns = record.privatize({"age": [40, 50], "town": make(["y", "z"])}, rng=fixed_words(words))
        everything = town.privatize(["y", "z"], rng=fixed_words(FOUR[2:]))
        assert columns["age"] == [AGE.privatize(40, rng=fixed_words(FOUR)), None]
        assert list(columns["town"]) == [None, everything[1]]
    with pytest.raises(OutsideDomainError, match="^town: 1 of 1 values .*values\\[0\\] is not one of the labels"):
        record.privatize({"age": [40], "town": ["elsewhere"]})
    assert set(record.privatize({"age": 40, "town": "y"})) < {"age", "town"}


FLAT = {
    "bits": OUE(Integers(1, 11), epsilon="0.3"),
    "set": SubsetSelection(Items(["x", "y", "z"], loss=1 - np.eye(3)), epsilon="0.5"),
    "hash": OLH(Integers(1, 11), epsilon="0.25"),
    "number": HadamardResponse(Integers(1, 11), epsilon="0.2"),
    "twice": RAPPOR(Integers(1, 11), epsilon_permanent=2),
}
FLAT_PEOPLE = {
    "bits": [1, 5, 11, 5],
    "set": ["x", "z", "z", "y"],
    "hash": [1, 2, 3, 4],
    "number": [4, 3, 2, 1],
    "twice": [1, 1, 2, 2],
    "age": [40, 50, 60, 70],
}


@pytest.mark.parametrize("name", FLAT)
@pytest.mark.parametrize("make", [list, tuple, np.array])
def test_flat_categories_are_attributes_like_any_other(name, make):
    record = Record({"age": AGE, name: FLAT[name]})
    assert record.epsilon_decimal == AGE.epsilon_decimal + FLAT[name].epsilon_decimal
    values = {each: make(FLAT_PEOPLE[each]) for each in ("age", name)}
    rng = insecure_seed(5)
    ages, rows = AGE.privatize(values["age"], rng=rng), FLAT[name].privatize(values[name], rng=rng)
    columns = record.privatize(values, rng=insecure_seed(5))
    assert list(columns["age"]) == list(ages)
    assert np.array_equal(np.array(columns[name]), rows)
    assert type(columns[name]) is type(values[name])
    person = {each: FLAT_PEOPLE[each][0] for each in ("age", name)}
    one = record.privatize(person, rng=insecure_seed(7))
    rng = insecure_seed(7)
    assert one["age"] == AGE.privatize(person["age"], rng=rng)
    assert np.array_equal(one[name], FLAT[name].privatize(person[name], rng=rng))
    assert hash(record) == hash(Record({"age": AGE, name: FLAT[name]}))
    assert pickle.loads(pickle.dumps(record)) == record


@pytest.mark.parametrize("name", FLAT)
def test_sampled_rows_are_masked_and_nothing_lies_under_the_mask(name):
    record = Record({"age": AGE, name: FLAT[name]}, sample=1)
    assert record.epsilon_decimal == max(AGE.epsilon_decimal, FLAT[name].epsilon_decimal)
    words = [2**62, 3 * 2**62, 3 * 2**62, 2**62, *np.random.default_rng(1).integers(2**63, size=900).tolist()]
    values = {each: np.array(FLAT_PEOPLE[each]) for each in ("age", name)}
    rows = FLAT[name].privatize(values[name], rng=fixed_words(words[8:]))
    columns = record.privatize(values, rng=fixed_words(words))
    assert columns["age"].mask.tolist() == [False, True, True, False]
    found = columns[name]
    assert np.ma.getmaskarray(found).reshape(4, -1).all(axis=1).tolist() == [True, False, False, True]
    assert np.ma.getmaskarray(found).reshape(4, -1).any(axis=1).tolist() == [True, False, False, True]
    assert np.array_equal(found.data[1:3], rows[1:3])
    assert (found.data[[0, 3]] == np.iinfo(rows.dtype).max).all()
    listed = record.privatize({each: list(FLAT_PEOPLE[each]) for each in values}, rng=fixed_words(words))
    assert [row is None for row in listed[name]] == [True, False, False, True]
    assert np.array_equal(np.stack(listed[name][1:3]), rows[1:3])


VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "records.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("vector", VECTORS)
def test_published_words_give_the_published_reports(vector):
    record = Record({name: from_spec(spec) for name, spec in vector["specs"].items()}, sample=vector["sample"])
    words = fixed_words(map(int, vector["words"]))
    assert record.privatize(vector["values"], rng=words) == vector["reports"]
    assert repr(words).startswith("<fixed words, 0 of")
    many = {name: np.array([value]) for name, value in vector["values"].items()}
    columns = record.privatize(many, rng=fixed_words(map(int, vector["words"])))
    assert {name: column[0] for name, column in columns.items() if column[0] is not np.ma.masked} == vector["reports"]


def test_flat_categories_in_other_containers_and_with_gaps_are_refused_with_advice():
    record = Record({"age": AGE, "bits": FLAT["bits"]})
    people = {"age": pd.Series([40]), "bits": pd.Series([3])}
    with pytest.raises(InputError, match="^bits: Expected values of a flat .* got Series; pass column.to_numpy"):
        record.privatize(people)
    assert record.privatize(people | {"bits": people["bits"].to_numpy()})["bits"].shape == (1, 2)
    with pytest.raises(InputError, match="^bits: Expected nulls='error', got 'keep'; remove it, or add"):
        record.privatize({"age": [40], "bits": [3]}, nulls="keep")
    with pytest.raises(InputError, match="^bits: Expected nulls='error', got 'keep'; remove it, or add"):
        record.privatize({"age": 40, "bits": 3}, nulls="keep")
    with pytest.raises(NullError, match="^bits: 1 of 2 values are missing"):
        record.privatize({"age": [40, 41], "bits": [3, None]})
    with pytest.raises(OutsideDomainError, match="^bits: 1 of 1 values cannot be reported: values\\[0\\] is outside"):
        record.privatize({"age": [40], "bits": [12]})


def test_every_value_is_checked_whatever_is_drawn():
    words = [third(0), *[2**60] * 8]
    with pytest.raises(OutsideDomainError, match="^grade: 6.0 is outside 0..5; use outside='clip' to clamp it."):
        ONE.privatize(PERSON | {"grade": 6.0}, rng=fixed_words(words))
    with pytest.raises(OutsideDomainError, match="^grade: 1 of 1 values cannot be reported: values\\[0\\] is outside"):
        ONE.privatize({"age": [40], "income": [1.0], "grade": [6.0]}, rng=fixed_words(words))
    assert ALL.privatize(PERSON | {"grade": 6.0}, outside="clip")["grade"] in GRADE.outputs


@pytest.mark.parametrize("record", [ALL, ONE], ids=["all", "sampled"])
def test_nobody_gets_no_report(record):
    assert record.privatize({"age": [], "income": [], "grade": []}) == {"age": [], "income": [], "grade": []}


def test_secure_words_draw_every_attribute_of_one_and_of_many():
    seen = {name for _ in range(300) for name in ONE.privatize(PERSON)}
    assert seen == set(PARTS)  # misses one with probability below 3·(2/3)^300 < 10^−52
    columns = ONE.privatize({name: np.full(300, value) for name, value in PERSON.items()})
    assert sum((~column.mask).astype(int) for column in columns.values()).tolist() == [1] * 300
    assert all((~column.mask).any() for column in columns.values())


def test_nulls_are_kept_where_all_is_reported_and_refused_where_they_could_be_mistaken():
    kept = ALL.privatize(PEOPLE | {"age": [40, None, 60, None, 80]}, nulls="keep")
    assert [age is None for age in kept["age"]] == [False, True, False, True, False]
    assert ALL.privatize(PERSON | {"age": None}, nulls="keep")["age"] is None
    with pytest.raises(NullError, match="^age: The value is missing; remove it"):
        ALL.privatize(PERSON | {"age": None})
    with pytest.raises(NullError, match="^age: 1 of 5 values are missing, the first at values\\[1\\]; remove it"):
        ONE.privatize(PEOPLE | {"age": [40, None, 60, 70, 80]})
    with pytest.raises(InputError, match="Expected nulls='error' with sample.*; remove missing values, or add"):
        ONE.privatize(PERSON, nulls="keep")


@pytest.mark.parametrize(
    ("mechanisms", "sample", "message"),
    [
        ({}, None, "at least one attribute, got an empty one; pass {'age': mech}"),
        ([AGE], None, "Expected mechanisms as a dict of at least one attribute, got list; pass {'age': mech}"),
        (
            {"age": 1},
            None,
            "Expected a mechanism for 'age', got int; pass one such as bp.BRR",
        ),
        ({"all": ALL}, None, "Expected a mechanism for 'all', got Record; pass one"),
        ({1: AGE}, None, "Expected names of attributes as strings, got 1; use 'age'"),
        ({1: 2}, "x", "3 problems:"),
        (PARTS, 0, "Expected 1 ≤ sample < 3, the number of attributes, got 0; leave sample out"),
        (PARTS, 3, "Expected 1 ≤ sample < 3, the number of attributes, got 3; leave sample out"),
        ({"age": AGE}, 1, "Expected 1 ≤ sample < 1, the number of attributes, got 1; leave sample out"),
        (PARTS, True, "Expected sample as None or a whole number, got True; use sample=1"),
        (PARTS, 1.0, "Expected sample as None or a whole number, got 1.0; use sample=1"),
        (dict.fromkeys(map(str, range(40)), AGE), 20, "at most 2\\^16 sets .*; use a smaller sample, or fewer"),
    ],
)
def test_a_record_that_cannot_be_is_refused_with_advice(mechanisms, sample, message):
    with pytest.raises(InputError, match=message):
        Record(mechanisms, sample=sample)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (40, "Expected values as a dict of attributes, got int; pass {'age': …}"),
        (
            pd.DataFrame(PEOPLE),
            "Expected values as a dict of attributes, got DataFrame; pass {'age': frame\\['age'\\], …}",
        ),
        ({"age": 40, "income": 1.0}, "Expected a value for 'grade', got none; add it."),
        (PERSON | {"town": 1}, "Expected no 'town', which has no mechanism; remove it, or add it to the Record."),
        ({"town": 1, "age": 2}, "3 problems:\n- Expected a value for 'income'(.|\n)*'grade'(.|\n)*no 'town'"),
        (PERSON | {"age": [40]}, "got both: one value for income, grade, a container for age; pass one kind for all"),
        (PEOPLE | {"age": [40]}, "got age: 1, income: 5, grade: 5; pass columns of one table"),
        (PEOPLE | {"age": np.full((5, 1), 40)}, "one value a person for 'age', got 2 dimensions; pass a column"),
        (PEOPLE | {"age": np.array(40)}, "one value a person for 'age', got 0 dimensions; pass a column"),
        (PEOPLE | {"age": {40}}, "^age: Expected values as a number, a list.* got set; convert it first"),
        (PEOPLE | {"age": pa.array(["x"] * 5)}, "^age: Expected an Arrow array .* got string; use .cast"),
    ],
)
def test_values_that_do_not_fit_the_record_are_refused_with_advice(values, message):
    for record in (ALL, ONE):
        with pytest.raises(InputError, match=message):
            record.privatize(values)


def test_options_are_checked():
    with pytest.raises(InputError, match="3 problems:"):
        ALL.privatize(PERSON, outside="wrap", nulls="drop", threads=0)
    with pytest.raises(InputError, match="Expected rng=None"):
        ALL.privatize(PERSON, rng=np.random.default_rng(1))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (PERSON | {"age": SENTINEL}, OutsideDomainError),
        (PERSON | {"age": str(SENTINEL)}, NotAValueError),
        (PEOPLE | {"age": [SENTINEL] * 5}, OutsideDomainError),
        (PEOPLE | {"age": [str(SENTINEL)] * 5}, NotAValueError),
        (PERSON | {"income": [SENTINEL]}, InputError),
        (PEOPLE | {"income": [SENTINEL]}, InputError),
        ([SENTINEL], InputError),
    ],
)
def test_errors_carry_no_value_but_in_the_message_of_one_person(values, kind):
    with pytest.raises(kind) as caught:
        ALL.privatize(values)
    error = caught.value
    assert error.__context__ is None
    assert error.__cause__ is None
    needle = str(SENTINEL)
    assert needle not in repr(error) + repr(error.args) + pickle.dumps(error).decode("latin-1")
    is_scalar = isinstance(values, dict) and values["age"] in (SENTINEL, needle)
    assert (needle in str(error)) == is_scalar
    assert not is_scalar or str(error).startswith("age: ")


def test_a_record_never_changes_and_travels_whole():
    parts = dict(PARTS)
    record = Record(parts, sample=1)
    parts.clear()
    assert list(record.mechanisms) == list(PARTS)
    with pytest.raises(AttributeError, match="Record cannot change"):
        record.sample = None
    with pytest.raises(TypeError):
        record.mechanisms["age"] = INCOME
    for twin in (copy.copy(record), copy.deepcopy(record), pickle.loads(pickle.dumps(record)), ONE):
        assert twin == record
        assert hash(twin) == hash(record)
        assert repr(twin) == repr(record)
    assert record not in {ALL, TWO}
    assert record != "record"
    assert repr(Record({"age": AGE}, sample=None)) == "Record({'age': BRR(Integers(18, 90), epsilon=0.1, m=35)})"
    assert repr(ONE).endswith("sample=1)")
