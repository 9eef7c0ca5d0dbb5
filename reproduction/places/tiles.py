"""Places as Bing map tiles: 46-bit codes in which nearby places often share a prefix.

At level 23 the world map is 2^23 × 2^23 tiles, each about 4.8 m wide at the equator. A code is the Morton code of the
tile, which Bing writes as a *quadkey*: from the top level down one bit of y (1 is south), then one bit of x (1 is
east). Places whose codes share 2k leading bits lie in one tile of level k. The converse fails: neighbours on opposite
sides of the edge of a large tile share few bits or none.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bipartite.errors import InputError

Codes = NDArray[np.int64]

LEVEL: Final = 23
BITS: Final = 2 * LEVEL
MAX_LATITUDE: Final = 85.05112878
"""Where the square Mercator map ends."""
_TILE_PIXELS: Final = 256
_MAP_PIXELS: Final = _TILE_PIXELS * 2**LEVEL


def tile_codes(coordinates: NDArray[np.float64]) -> Codes:
    """The codes of the level-23 tiles of places, given as rows (latitude, longitude) in degrees, as Points holds them.

    As in Microsoft's sample code and in the codes that the paper's authors published, half a pixel (9 mm on the ground)
    is added: it moves 3 of their 1000 places to a neighbouring tile.

    Reference: J. Schwartz, "Bing Maps Tile System", Microsoft, 2018.

    >>> format(tile_codes(np.array([[51.5074, -0.1278]]))[0], "046b")
    '0011011101110111010111000100000001101101011100'
    """
    latitude, longitude = coordinates.T
    sine = np.sin(np.radians(np.clip(latitude, -MAX_LATITUDE, MAX_LATITUDE)))
    shares = (longitude + 180) / 360, 0.5 - np.log((1 + sine) / (1 - sine)) / (4 * math.pi)
    # The last pixel is clipped too: the half pixel would push +180° off the map.
    pixels = (np.clip(share * _MAP_PIXELS + 0.5, 0, _MAP_PIXELS - 1).astype(np.int64) for share in shares)
    return interleave(*(each // _TILE_PIXELS for each in pixels))


def interleave(x: Codes, y: Codes, level: int = LEVEL) -> Codes:
    """The Morton code of the tiles (x, y) of a level: bits of y and x in turn, y first; in base four Bing's quadkeys.

    Microsoft's example:

    >>> np.base_repr(interleave(np.int64(3), np.int64(5), level=3), 4)
    '213'
    """
    codes = np.zeros(np.shape(x), dtype=np.int64)
    for bit in reversed(range(level)):
        codes = codes << 2 | (y >> bit & 1) << 1 | x >> bit & 1
    return codes


def check_codes(codes: ArrayLike) -> Codes:
    """Two or more codes, one per place."""
    array = np.asarray(codes)
    if array.dtype.kind not in "iu" or (array.size and (array.min() < 0 or int(array.max()) >> BITS)):
        raise InputError(f"Expected codes as whole numbers from 0 to 2^{BITS} − 1; make them with tile_codes.")
    if array.ndim != 1 or len(array) < 2:  # noqa: PLR2004
        raise InputError(f"Expected two or more codes in one row, got shape {array.shape}; pass one code per place.")
    return array.astype(np.int64)


def common_bits(first: Codes, second: Codes) -> Codes:
    """The number of leading bits that two codes share, from 0 to 46 (equal codes)."""
    # A double represents 46 bits exactly, so its exponent is the number of bits from the first difference on.
    return BITS - np.frexp((first ^ second).astype(np.float64))[1].astype(np.int64)


def sharing(codes: Codes, bits: int) -> Codes:
    """For each code, the number of codes that share its first bits, itself included."""
    _, which, counts = np.unique(codes >> (BITS - bits), return_inverse=True, return_counts=True)
    shared: Codes = counts[which.ravel()]
    return shared
