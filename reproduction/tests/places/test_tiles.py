"""Codes of map tiles: against halving the map, Microsoft's documentation and the codes that the authors published."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite.errors import InputError
from reproduction.places.tiles import BITS, MAX_LATITUDE, check_codes, common_bits, interleave, sharing, tile_codes

codes = st.integers(0, 2**BITS - 1)


def code_of(*place):
    return tile_codes(np.array([place], dtype=float))[0]


def bits_one_by_one(latitude, longitude):
    """The code as a string, by halving the map 23 times instead of numbering its tiles."""
    sine = math.sin(math.radians(max(-MAX_LATITUDE, min(MAX_LATITUDE, latitude))))
    size = 256 * 2**23
    corner = [0, 0]
    shares = (0.5 - math.log((1 + sine) / (1 - sine)) / (4 * math.pi), (longitude + 180) / 360)
    pixel = [math.floor(max(0, min(size - 1, share * size + 0.5))) for share in shares]
    text = ""
    while size > 256:
        size //= 2
        for axis in (0, 1):
            after = pixel[axis] >= corner[axis] + size
            text += "01"[after]
            corner[axis] += size * after
    return text


@given(st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180)), min_size=1))
def test_codes_are_what_halving_the_map_gives(places):
    assert [format(code, "046b") for code in tile_codes(np.array(places))] == [bits_one_by_one(*at) for at in places]


@pytest.mark.parametrize(
    ("place", "quadkey"),
    [
        ((90, -180), "0" * 23),  # north-west; a pole lies in the tile at the end of the map
        ((90, 180), "1" * 23),  # north-east: the last tile, not one off the map
        ((-90, -180), "2" * 23),
        ((-90, 180), "3" * 23),
        ((0, 0), "3" + "0" * 22),  # the middle belongs to the south-eastern quarter
    ],
)
def test_corners_and_the_middle_of_the_map_have_these_quadkeys(place, quadkey):
    assert code_of(*place) == int(quadkey, 4)


def test_a_tile_of_microsofts_documentation_has_the_documented_quadkey():
    assert int(interleave(np.array(3), np.array(5), level=3)) == int("213", 4)


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ((38.9887021448, 34.4481419514), "0110100101000010101101111101011100001001001101"),
        ((61.9967923388, 51.4466142426), "0110010000111010011010011001001111000011100001"),
        ((47.4626233006, 71.3910054958), "0110011110000110110100001011100010011011001101"),
    ],
)
def test_half_a_pixel_is_added_as_in_the_codes_that_the_authors_published(place, code):
    # Of their 1000 places these three have another code without the half pixel.
    assert format(code_of(*place), "046b") == code


@given(codes, codes, st.integers(0, BITS - 1))
def test_common_bits_and_who_shares_them_are_those_of_the_strings(a, b, at):
    first, second = format(a, "046b"), format(b, "046b")
    shared = next((each for each in range(BITS) if first[each] != second[each]), BITS)
    found = common_bits(np.array([a, b, a, a]), np.array([b, a, a, a ^ 1 << (BITS - 1 - at)]))
    assert found.tolist() == [shared, shared, BITS, at]
    trio = np.array([a, a ^ 1 << (BITS - 1 - at), a])
    assert [sharing(trio, bits).tolist() for bits in (at, at + 1)] == [[3, 3, 3], [2, 1, 2]]


@pytest.mark.parametrize(
    "wrong", [[-1, 3], [0, 2**BITS], [0, 2**64], [0.5, 0], ["0", "1"], [True, False], np.array([2**63, 0], np.uint64)]
)
def test_what_is_no_code_is_refused(wrong):
    with pytest.raises(InputError, match="Expected codes as whole numbers from 0 to 2\\^46 − 1; make them with tile_c"):
        check_codes(wrong)


@pytest.mark.parametrize("wrong", [[3], [], [[1, 2], [3, 4]], 7])
def test_codes_stand_in_one_row_of_two_or_more(wrong):
    with pytest.raises(InputError, match="two or more codes in one row, got shape .*; pass one code per place."):
        check_codes(np.array(wrong, dtype=np.int64))
