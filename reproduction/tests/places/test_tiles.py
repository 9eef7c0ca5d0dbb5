import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite.errors import InputError
from reproduction.places.tiles import BITS, MAX_LATITUDE, common_bits, interleave, prefix, tile_codes

codes = st.integers(0, 2**BITS - 1)
NOT_CODES = "Expected codes as whole numbers from 0 to 2\\^46 − 1; make them with tile_codes."


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


def shared_by_comparing(a, b):
    first, second = format(a, "046b"), format(b, "046b")
    return next((at for at in range(BITS) if first[at] != second[at]), BITS)


@given(st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180)), min_size=1))
def test_codes_are_what_halving_the_map_gives(places):
    latitudes, longitudes = zip(*places, strict=True)
    found = tile_codes(latitudes, longitudes)
    assert found.dtype == np.int64
    assert [format(code, "046b") for code in found] == [bits_one_by_one(*place) for place in places]


@pytest.mark.parametrize(
    ("place", "quadkey"),
    [
        ((90, -180), "0" * 23),  # north-west
        ((90, 180), "1" * 23),  # north-east: the last tile, not one off the map
        ((-90, -180), "2" * 23),
        ((-90, 180), "3" * 23),
        ((0, 0), "3" + "0" * 22),  # the middle belongs to the south-eastern quarter
    ],
)
def test_corners_and_the_middle_of_the_map_have_these_quadkeys(place, quadkey):
    assert tile_codes(*place) == int(quadkey, 4)


def test_a_tile_of_microsofts_documentation_has_the_documented_quadkey():
    assert int(interleave(np.array(3), np.array(5), level=3)) == int("213", 4)


def test_poles_lie_in_the_tiles_at_the_ends_of_the_map():
    assert (tile_codes([90, -90], [10, 10]) == tile_codes([MAX_LATITUDE, -MAX_LATITUDE], [10, 10])).all()


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
    assert format(tile_codes(*place), "046b") == code


def test_codes_keep_the_shape_of_the_places():
    assert tile_codes(np.zeros((2, 3)), np.zeros((2, 3))).shape == (2, 3)
    assert tile_codes(1, 2).shape == ()
    assert tile_codes([], []).shape == (0,)


@given(codes, codes)
def test_common_bits_are_those_of_the_strings(a, b):
    assert common_bits(a, b) == common_bits(b, a) == shared_by_comparing(a, b)
    assert common_bits(a, a) == BITS


@given(codes, st.integers(0, BITS - 1))
def test_codes_that_differ_in_one_bit_share_the_bits_before_it(code, at):
    assert common_bits(code, code ^ 1 << (BITS - 1 - at)) == at


@given(codes, codes, st.integers(0, BITS))
def test_prefixes_are_equal_exactly_when_that_many_bits_are_shared(a, b, bits):
    assert format(a, "046b")[:bits] == (format(prefix(a, bits), f"0{bits}b") if bits else "")
    assert (prefix(a, bits) == prefix(b, bits)) == (common_bits(a, b) >= bits)


def test_common_bits_broadcast():
    some = np.array([0, 1, 2**45])
    assert common_bits(some[:, np.newaxis], some).tolist() == [[46, 45, 0], [45, 46, 0], [0, 0, 46]]


@pytest.mark.parametrize(
    ("latitudes", "longitudes", "message"),
    [
        ([math.nan], [0], "Expected finite latitudes, got NaN or infinity; remove those places."),
        ([0], [math.inf], "Expected finite longitudes, got NaN or infinity; remove those places."),
        ([91], [0], "Expected latitudes in ±90 degrees, got larger ones; are the two arguments swapped\\?"),
        ([0], [180.1], "Expected longitudes in ±180 degrees, got larger ones; are the two arguments swapped\\?"),
        ([0, 1], [0], "of equal shape, got \\(2,\\) and \\(1,\\); pass one of each for every place."),
        (["0"], [0], "Expected latitudes as numbers, in degrees; pass a list or an array of numbers."),
        ([0], [[0], [1, 2]], "Expected longitudes as numbers, in degrees; pass a list or an array of numbers."),
        (np.ma.masked_array([0.0], [True]), [0], "Expected latitudes as numbers"),
        ([True], [0], "Expected latitudes as numbers"),
    ],
)
def test_places_off_the_map_are_refused(latitudes, longitudes, message):
    with pytest.raises(InputError, match=message):
        tile_codes(latitudes, longitudes)


def test_every_problem_of_places_is_told_at_once():
    with pytest.raises(InputError, match="3 problems:"):
        tile_codes([math.nan], [200, 0])


@pytest.mark.parametrize("wrong", [[-1], [2**BITS], [2**64], [0.5], ["0"], [True], np.array([2**63], dtype=np.uint64)])
def test_what_is_no_code_is_refused(wrong):
    for call in (lambda: common_bits(wrong, [0]), lambda: common_bits([0], wrong), lambda: prefix(wrong, 3)):
        with pytest.raises(InputError, match=NOT_CODES):
            call()


@pytest.mark.parametrize("bits", [-1, 47, 2.0, True, "3", None])
def test_a_prefix_has_0_to_46_bits(bits):
    with pytest.raises(InputError, match="Expected bits as a whole number from 0 to 46, got .*; a code has 46 bits."):
        prefix(0, bits)


def test_shapes_that_do_not_broadcast_are_refused():
    with pytest.raises(InputError, match="that broadcast, got \\(2,\\) and \\(3,\\); pass equal shapes."):
        common_bits([0, 1], [0, 1, 2])
