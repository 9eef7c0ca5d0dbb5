import hashlib
import json
import math

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from bipartite import from_spec, verify
from bipartite.errors import SpecError
from bipartite.mechanisms.spec import canonical_json, load_spec, spec_sha256
from tests.strategies import brr


@given(brr())
def test_a_spec_describes_its_mechanism_and_survives_json(mechanism):
    spec = mechanism.to_spec()
    assert from_spec(spec) == mechanism
    assert load_spec(json.dumps(spec)) == mechanism
    assert load_spec(canonical_json(spec)) == mechanism
    assert spec_sha256(load_spec(canonical_json(spec))) == spec_sha256(mechanism)
    assert verify(mechanism).spec_sha256 == hashlib.sha256(rfc8785.dumps(spec)).hexdigest()


json_values = st.recursive(
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.integers(-(2**53) + 1, 2**53 - 1),
        st.text(st.characters(codec="utf-8"), max_size=5),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text("abcXYZ01", max_size=3), inner, max_size=3)
    ),
)


@given(json_values)
def test_canonical_json_is_that_of_rfc_8785(value):
    assert canonical_json(value).encode() == rfc8785.dumps(value)


@pytest.mark.parametrize(
    "number", [1e21, 1e20, 123456789012345680000.0, 1e-6, 1e-7, 0.1, -0.0, 5e-324, 1.7976931348623157e308, 1e23]
)
def test_numbers_are_written_as_ecmascript_does(number):
    assert canonical_json(number).encode() == rfc8785.dumps(number)


@pytest.mark.parametrize("value", [None, b"x", math.nan, math.inf])
def test_what_json_has_not_is_refused(value):
    with pytest.raises(SpecError, match="Expected"):
        canonical_json(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "Expected a spec as JSON: .* at line 1; ask for the file again"),
        ('{"m": 1, "m": 2}', "Expected every key of a spec once, got a duplicate"),
        ("[" * 100_000, "too many digits or brackets"),
        ('{"m": ' + "9" * 5000 + "}", "too many digits or brackets"),
        ('{"m": NaN}', "Expected finite numbers in a spec, got NaN"),
    ],
)
def test_json_that_means_two_things_is_refused(text, message):
    with pytest.raises(SpecError, match=message):
        load_spec(text)
