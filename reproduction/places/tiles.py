"""Places as Bing map tiles: 46-bit codes in which nearby places often share a prefix.

At level 23 the world map is 2^23 × 2^23 tiles, each about 4.8 m wide at the equator. A code is the Morton code of the
tile, which Bing writes as a *quadkey*: from the top level down one bit of y (1 is south), then one bit of x (1 is
east), so each pair of bits is one digit of the quadkey. Places whose codes share 2k leading bits lie in one tile of
level k. The converse fails: neighbours on opposite sides of the edge of a large tile share few bits or none.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, Final, SupportsIndex, cast

import numpy as np

from bipartite.errors import InputError, Problems, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

LEVEL: Final = 23
BITS: Final = 2 * LEVEL
# The latitude at which the square Mercator map ends.
MAX_LATITUDE: Final = 85.05112878
_TILE_PIXELS: Final = 256
_MAP_PIXELS: Final = _TILE_PIXELS * 2**LEVEL


def tile_codes(latitudes: ArrayLike, longitudes: ArrayLike) -> NDArray[np.int64]:
    r"""The 46-bit codes of the level-23 tiles that contain these places, given in degrees.

    With the latitude clipped to ±85.05112878°:

    .. math::

        x = \frac{lon + 180}{360}, \qquad
        y = \frac12 - \frac{1}{4\pi} \ln\frac{1 + \sin lat}{1 - \sin lat}, \qquad
        pixel = \lfloor 256 \cdot 2^{23} \cdot (x, y) + \tfrac12 \rfloor,

    clipped to the map; the tile is the pixel divided by 256.

    Notes
    -----
    The half pixel is in Microsoft's sample code and in the codes that the BRR paper's authors published: it moves 3 of
    their 1000 places to a neighbouring tile. It is 9 mm on the ground at the equator.

    References
    ----------
    J. Schwartz, "Bing Maps Tile System", Microsoft, 2018.

    Examples
    --------
    >>> code = tile_codes([51.5074], [-0.1278])[0]
    >>> format(code, "046b")
    '0011011101110111010111000100000001101101011100'
    """
    latitude, longitude = _degrees(latitudes, longitudes)
    sine = np.sin(np.radians(np.clip(latitude, -MAX_LATITUDE, MAX_LATITUDE)))
    x = _tile((longitude + 180) / 360)
    y = _tile(0.5 - np.log((1 + sine) / (1 - sine)) / (4 * math.pi))
    return interleave(x, y)


def interleave(x: NDArray[np.int64], y: NDArray[np.int64], level: int = LEVEL) -> NDArray[np.int64]:
    """The Morton code of the tiles (x, y) of a level: bits of y and x in turn, y first.

    In base four these are Bing's quadkeys. Microsoft's example, tile (3, 5) of level 3 with quadkey 213:

    >>> np.base_repr(interleave(np.int64(3), np.int64(5), level=3), 4)
    '213'
    """
    codes = np.zeros(np.shape(x), dtype=np.int64)
    for bit in reversed(range(level)):
        codes = codes << 2 | (y >> bit & 1) << 1 | x >> bit & 1
    return codes


def common_bits(a: ArrayLike, b: ArrayLike) -> NDArray[np.int64]:
    """The number of leading bits that two codes share, from 0 to 46 (equal codes). Shapes broadcast.

    >>> int(common_bits(0b101 << 43, 0b100 << 43))
    2
    """
    first, second = _codes(a), _codes(b)
    try:
        different = first ^ second
    except ValueError:
        raise InputError(
            f"Expected codes of shapes that broadcast, got {first.shape} and {second.shape}; pass equal shapes."
        ) from None
    # A double represents 46 bits exactly, so its exponent is the number of bits from the first difference on.
    return BITS - np.frexp(different.astype(np.float64))[1].astype(np.int64)


def prefix(code: ArrayLike, bits: int) -> NDArray[np.int64]:
    """The first ``bits`` bits of codes, as integers.

    >>> format(prefix(0b1011 << 42, 3), "03b")
    '101'
    """
    length = whole(bits)
    if length is None or not 0 <= length <= BITS:
        raise InputError(
            f"Expected bits as a whole number from 0 to {BITS}, got {shown(bits)}; a code has {BITS} bits."
        )
    return _codes(code) >> (BITS - length)


def whole(value: object) -> int | None:
    """An integer of any type but bool, or None for anything else."""
    if not isinstance(value, SupportsIndex) or isinstance(value, (bool, np.bool_)):
        return None
    try:
        return operator.index(value)
    except TypeError:  # an array of several numbers
        return None


def _tile(share: NDArray[np.float64]) -> NDArray[np.int64]:
    """The tile at this fraction of the map's width or height."""
    # The last pixel is clipped too: the half pixel would push +180° off the map.
    return np.clip(share * _MAP_PIXELS + 0.5, 0, _MAP_PIXELS - 1).astype(np.int64) // _TILE_PIXELS


def _degrees(latitudes: ArrayLike, longitudes: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    problems = Problems()
    latitude = _angles("latitudes", latitudes, 90, problems)
    longitude = _angles("longitudes", longitudes, 180, problems)
    if latitude is not None and longitude is not None and latitude.shape != longitude.shape:
        problems.add(
            f"Expected latitudes and longitudes of equal shape, got {latitude.shape} and {longitude.shape};"
            " pass one of each for every place."
        )
    problems.raise_if_any(InputError)
    return cast("NDArray[np.float64]", latitude), cast("NDArray[np.float64]", longitude)


def _angles(name: str, angles: ArrayLike, most: int, problems: Problems) -> NDArray[np.float64] | None:
    given = _array(angles)
    if given is None or given.dtype.kind not in "iuf":
        problems.add(f"Expected {name} as numbers, in degrees; pass a list or an array of numbers.")
        return None
    array = given.astype(np.float64)
    if not np.isfinite(array).all():
        problems.add(f"Expected finite {name}, got NaN or infinity; remove those places.")
    elif (np.abs(array) > most).any():
        problems.add(f"Expected {name} in ±{most} degrees, got larger ones; are the two arguments swapped?")
    return array


def _codes(codes: ArrayLike) -> NDArray[np.int64]:
    given = _array(codes)
    if given is None or given.dtype.kind not in "iu" or (given.size and (given.min() < 0 or int(given.max()) >> BITS)):
        raise InputError(f"Expected codes as whole numbers from 0 to 2^{BITS} − 1; make them with tile_codes.")
    return given.astype(np.int64)


def _array(values: ArrayLike) -> NDArray[Any] | None:
    """Values as an array, or None for ragged lists and for masked arrays, whose mask would be dropped."""
    if isinstance(values, np.ma.MaskedArray):
        return None
    try:
        return np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        return None
