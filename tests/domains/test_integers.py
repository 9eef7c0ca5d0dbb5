import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite import BRR, Integers, insecure_seed
from bipartite.errors import DomainError, NotAValueError, OutsideDomainError
from tests.strategies import integer_domains

AGES = Integers(18, 90)
INTEGER_TYPES = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOAT_TYPES = [np.float16, np.float32, np.float64, np.longdouble]


@given(integer_domains(), st.data())
def test_encoding_and_decoding_are_inverse(domain, data):
    index = data.draw(st.integers(0, len(domain) - 1))
    value = domain.decode(index)
    assert domain.low <= value <= domain.high
    assert domain.encode(value) == index
    assert domain.encode(float(value)) == index
    assert domain[index] == domain[index - len(domain)] == value
    assert value in domain
    assert domain.high + 1 not in domain


def test_a_domain_behaves_like_a_sequence():
    assert len(AGES) == 73
    assert AGES[0] == 18
    assert AGES[-1] == 90
    assert AGES[2:5].tolist() == [20, 21, 22]
    assert AGES[np.array([0, -1])].tolist() == [18, 90]
    assert list(Integers(-1, 1)) == [-1, 0, 1]
    assert AGES.to_numpy().tolist() == list(range(18, 91))
    assert Integers(18.0, np.int8(90)) == AGES
    assert hash(AGES) == hash(Integers(18, 90))
    assert Integers(18, 91) != AGES
    assert "forty" not in AGES
    assert repr(AGES) == "Integers(18, 90)"
    assert AGES[AGES.to_numpy() > 88].tolist() == [89, 90]
    with pytest.raises(IndexError, match="an index is out of range for 73 values"):
        AGES[np.array([0, 73])]
    with pytest.raises(IndexError, match="index 73 is out of range for 73 values"):
        AGES[73]


def test_a_billion_values_take_no_memory_until_asked_for():
    domain = Integers(1, 10**9)
    assert domain[10**9 - 1] == 10**9
    assert domain[np.array([5, -1])].tolist() == [6, 10**9]
    with pytest.raises(MemoryError, match="at most 2\\^27 values, this domain has 1000000000; index it instead"):
        domain.to_numpy()


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        (5, 5, "Expected low < high, got low=5, high=5; a domain needs at least two values"),
        (6, 5, "Expected low < high"),
        (0, 2**31, "Expected at most 2\\^31 values, got 2147483649; use Interval"),
        (2**53, 2**53 + 5, "Expected ends below 2\\^53 in size"),
        (1.5, 3, "Expected low as a whole number, got 1.5; pass an int"),
        (1, "9", "Expected high as a whole number, got '9'; pass an int"),
        (True, 3, "Expected low as a whole number, got True"),
        (math.nan, 3, "Expected low as a whole number, got nan"),
    ],
)
def test_a_domain_that_cannot_be_is_refused(low, high, message):
    with pytest.raises(DomainError, match=message):
        Integers(low, high)


def test_all_problems_of_a_domain_are_reported_at_once():
    with pytest.raises(DomainError) as caught:
        Integers("a", None)
    assert str(caught.value).startswith("2 problems:\n- Expected low")
    with pytest.raises(DomainError, match="2 problems"):
        Integers(-(2**60), 2**60)


@pytest.mark.parametrize("dtype", INTEGER_TYPES + FLOAT_TYPES)
@pytest.mark.parametrize("edges", ["clamped", "padded"])
def test_every_number_type_gives_the_same_reports(dtype, edges):
    mechanism = BRR(AGES, 1, edges=edges)
    values = np.random.default_rng(1).integers(18, 91, 400)
    expected = mechanism.privatize(values, rng=insecure_seed(1))
    reports = mechanism.privatize(values.astype(dtype), rng=insecure_seed(1))
    assert reports.tolist() == expected.tolist()
    assert reports.dtype == np.int64
    one = mechanism.privatize(dtype(values[0]), rng=insecure_seed(1))
    assert one == expected[0]
    assert one.dtype == reports.dtype


@pytest.mark.parametrize("dtype", INTEGER_TYPES)
def test_a_value_beyond_the_domain_never_wraps_into_it(dtype):
    domain = Integers(-5, 5)
    for extreme in (np.iinfo(dtype).min, np.iinfo(dtype).max):
        if extreme in domain:
            continue
        with pytest.raises(OutsideDomainError):
            BRR(domain, 1).privatize(np.array([0, extreme], dtype=dtype))
        clipped = domain.encode_array(np.array([extreme], dtype=dtype), "clip")
        assert clipped.tolist() == [5 if extreme > 0 else -5]


def test_a_number_of_thousands_of_digits_is_outside_like_any_other():
    with pytest.raises(OutsideDomainError, match="a whole number with thousands of digits is outside 18..90"):
        BRR(AGES, 1).privatize(10**5000)
    with pytest.raises(DomainError, match="got a whole number with thousands of digits"):
        Integers(0, 10**5000)


def test_domains_and_mechanisms_cannot_change():
    mechanism = BRR(AGES, 1)
    for thing, name in ((AGES, "low"), (mechanism, "domain"), (mechanism, "edges"), (mechanism.lottery, "m")):
        with pytest.raises(AttributeError):
            setattr(thing, name, 5)
        with pytest.raises(AttributeError):
            delattr(thing, name)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_narrow_floats_are_explained_without_warnings(dtype):
    mechanism = BRR(Integers(16_777_217, 16_777_300), 1)
    with pytest.raises(OutsideDomainError, match="1 of 1 values cannot be reported: values\\[0\\] is outside"):
        mechanism.privatize(np.array([60_000], dtype=dtype))
    with pytest.raises(OutsideDomainError, match="2 of 2 values"):
        BRR(AGES, 1).privatize(np.array([np.longdouble("1e4000"), -np.longdouble("1e4000")]))


@pytest.mark.parametrize("value", [17, 91, 10**30, -(10**30), 17.5, 1e300, math.inf, -math.inf])
def test_a_scalar_outside_is_refused_or_clipped(value):
    mechanism = BRR(AGES, 1)
    with pytest.raises(OutsideDomainError, match="is outside 18..90; use outside='clip' to clamp it") as caught:
        mechanism.privatize(value)
    assert repr(value) in str(caught.value)
    assert AGES.encode(value, outside="clip") == (0 if value < 18 else 72)
    assert mechanism.privatize([value], outside="clip")[0] in AGES


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (math.nan, "nan is not a number; remove it"),
        (20.5, "20.5 is not a whole number, and 18..90 holds whole numbers; round it, or use Interval"),
        ("forty", "'forty' is not a number; pass an int or a float"),
        (True, "True is not a number"),
        (b"40", "b'40' is not a number"),
        (np.complex128(40), "is not a number"),
    ],
)
@pytest.mark.parametrize("outside", ["error", "clip"])
def test_a_scalar_that_is_no_value_is_refused_even_when_clipping(value, message, outside):
    with pytest.raises(NotAValueError) as caught:
        BRR(AGES, 1).privatize(value, outside=outside)
    assert message in str(caught.value)


def test_an_array_error_names_every_reason_and_the_first_place_but_no_value():
    values = np.full((10, 10), 40.0)
    values[1, 2] = 91357
    values[3, 4] = math.nan
    values[5, 6] = 50.123456
    values[7, 8] = -91357
    with pytest.raises(NotAValueError) as caught:
        BRR(AGES, 1).privatize(values)
    assert str(caught.value) == (
        "4 of 100 values cannot be reported: values[1, 2] is outside 18..90 (2 such), values[3, 4] is not a number "
        "(1 such), values[5, 6] is not a whole number (1 such); use outside='clip' to clamp values to the ends; remove "
        "or repair invalid values (nulls='keep' passes nulls through and publishes them)."
    )
    with pytest.raises(NotAValueError, match="2 of 100 values cannot be reported: values\\[3, 4\\] is not a number"):
        BRR(AGES, 1).privatize(values, outside="clip")
