"""Arithmetic whose result cannot depend on the order in which a device computes.

Matrix products add in an order of the library's choosing. Here their operands are whole numbers, so small that every
partial sum is a whole number below 2^53 and therefore exact as a double: whichever kernel, order, tile or number of
threads is used, the result is the same. A row becomes whole numbers by a power of two of that row alone. Other sums go
by halves. Functions are made of +, −, × and ÷, comparisons and table look-ups, element by element.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np
import torch

from bipartite.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    Shape = Sequence[int]

EXACT_BITS: Final = 53
"""Whole numbers up to 2^53 are exact as doubles."""
_FRACTION_BITS: Final = 52
"""Those of a double; above them stand eleven bits of exponent, e + 1023, or 2047 for what is not finite."""
_BIAS: Final = 1023
_NOT_FINITE: Final = 2047
_LEAST_DECAY: Final = -1000
"""e^x below 2^−1000 counts as 2^−1000."""
# A number below 2^-900 counts as one of that size: its row becomes zeros, and no power of two below overflows.
_SMALLEST: Final = -900
_LEAST_SUBNORMAL: Final = 5e-324
# Torch gives another thread work from this many numbers on.
_A_THREADS_NUMBERS: Final = 2**15
_LOG2_E: Final = 1.4426950408889634
# ln 2 as a sum whose first part has zeros at its end: whole multiples of it are exact.
_LN_2: Final = (6.93147180369123816490e-01, 1.90821492927058770002e-10)
# e^x for |x| ≤ ln(2)/2, highest power first.
_TAYLOR: Final = tuple(1 / math.factorial(n) for n in range(13, -1, -1))
# ln((1 + z)/(1 − z))/2z for |z| ≤ 0.1716 in powers of z², highest first.
_ARTANH: Final = tuple(1 / n for n in range(23, 0, -2))
# ln(erfc(z)/t) + z² for t = 2/(2 + z) in powers of t, highest first (Press et al., Numerical Recipes, §6.2): 1.2e-7.
_ERFC: Final = (
    0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807,
    -0.18628806, 0.09678418, 0.37409196, 1.00002368, -1.26551223,
)  # fmt: skip
_HALF_ROOT: Final = 0.7071067811865476


def power_of_two(exponents: torch.Tensor) -> torch.Tensor:
    """2^k of whole numbers from −1022 to 1023, written as bits: torch's own powers are computed by logarithms."""
    return ((exponents.long() + _BIAS) << _FRACTION_BITS).view(torch.float64)


def _sizes(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The least e with |x| < 2^e, at least −900, read off the bits of x; and whether x is finite."""
    biased = (x.view(torch.int64) >> _FRACTION_BITS) & _NOT_FINITE
    return (biased - (_BIAS - 1)).clamp_(min=_SMALLEST), biased < _NOT_FINITE


def bits_for(terms: int) -> tuple[int, int]:
    """The bits of both operands of products that are summed, ``terms`` at a time: terms·2^(p + q) ≤ 2^53."""
    left = EXACT_BITS - math.ceil(math.log2(max(1, terms)))
    return left // 2, left - left // 2


def whole(x: torch.Tensor, axes: list[int], bits: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Whole numbers of at most ``bits`` bits, and the powers of two that scale them back, one for each slice.

    A slice runs over ``axes``. One with a number that is not finite becomes zeros, lest NaN spread within a product,
    and its scale NaN, so that it is NaN again afterwards.
    """
    exponents, finite = _sizes(x.abs().amax(axes, keepdim=True))
    numbers = torch.where(finite, x, 0.0).mul_(power_of_two(bits - exponents)).round_()
    return numbers, torch.where(finite, power_of_two(exponents - bits), math.nan)


def scaled(sums: torch.Tensor, *scales: torch.Tensor) -> torch.Tensor:
    """Whole sums at their true size. The sign of a sum that is zero depends on the order; here it is always +."""
    sums = sums.add_(0.0)
    for each in scales:
        sums = sums.mul_(each)
    return sums


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The matrix product: entry (i, j) is a function of row i of a and column j of b."""
    terms = a.shape[-1]
    if terms == 1:
        return a * b  # one rounding, and no sum
    p, q = bits_for(terms)
    (rows, by_row), (columns, by_column) = whole(a, [-1], p), whole(b, [-2], q)
    return scaled(rows @ columns, by_row, by_column)


def total(x: torch.Tensor, axes: Shape | None = None, keepdim: bool = False) -> torch.Tensor:  # noqa: FBT001, FBT002 (as torch has it)
    """The sum over these axes, or over all: halves of each slice are added, again and again."""
    over = sorted({axis % x.dim() for axis in axes or range(x.dim())})
    kept = [axis for axis in range(x.dim()) if axis not in over]
    found = by_halves(x.permute(*kept, *over).reshape([x.shape[axis] for axis in kept] + [-1])).contiguous()
    for axis in over if keepdim else ():
        found = found.unsqueeze(axis)
    return found


def by_halves(terms: torch.Tensor) -> torch.Tensor:
    """The sum over the last axis: the first half plus the second, again and again; an odd one is carried along."""
    if not terms.shape[-1]:
        return terms.sum(-1)
    while terms.shape[-1] > 1:
        half = terms.shape[-1] // 2
        added = terms[..., :half] + terms[..., half : 2 * half]
        terms = torch.cat([added, terms[..., 2 * half :]], dim=-1) if terms.shape[-1] % 2 else added
    return terms[..., 0]


def added_at(rows: torch.Tensor, places: torch.Tensor, count: int) -> torch.Tensor:
    """Add each row to that of ``count`` which its place names: whole numbers, by a power of two for each sum."""
    if len(rows) > 2**_PLACES_BITS:
        raise InputError(f"Expected at most 2^{_PLACES_BITS} look-ups at once, got {len(rows)}; use shorter texts.")
    bits, at = EXACT_BITS - _PLACES_BITS, places[:, None].expand(rows.shape)
    exponents, finite = _sizes(rows)
    most = exponents.new_full((count, rows.shape[1]), _SMALLEST).scatter_reduce(0, at, exponents, "amax")
    spoiled = torch.zeros_like(most).scatter_reduce(0, at, (~finite).long(), "amax").bool()
    numbers = (torch.where(finite, rows, 0.0) * power_of_two(bits - most).gather(0, at)).round_()
    sums = rows.new_zeros(most.shape).scatter_add_(0, at, numbers)
    return scaled(sums, torch.where(spoiled, math.nan, power_of_two(most - bits)))


# Look-ups of one block, and with them the terms of one place, are at most 2^27.
_PLACES_BITS: Final = 27


def must_keep_subnormals() -> None:
    """Raise if any thread of torch flushes subnormal numbers to zero."""
    numbers = torch.full((_A_THREADS_NUMBERS * torch.get_num_threads(),), _LEAST_SUBNORMAL, dtype=torch.float64)
    if bool((numbers * 1.0 == 0).any()):
        raise InputError(
            "Expected IEEE arithmetic, got a processor that takes subnormal numbers for zero, perhaps in some threads "
            "only; call torch.set_flush_denormal(False) before torch computes anything."
        )


def square_root(x: torch.Tensor) -> torch.Tensor:
    """√x, rounded correctly: on a CPU torch calls MKL, whose last bit is wrong for about one number in 70."""
    if x.device.type != "cpu":
        return x.sqrt()
    with np.errstate(invalid="ignore"):
        return torch.from_numpy(np.asarray(np.sqrt(x.numpy())))


def _polynomial(x: torch.Tensor, coefficients: Sequence[float]) -> torch.Tensor:
    """Horner's rule, one rounding for each product and each sum."""
    found = torch.full_like(x, coefficients[0])
    for each in coefficients[1:]:
        found = found * x
        found = found + each
    return found


def exponential(x: torch.Tensor) -> torch.Tensor:
    """e^x, between 2^−1000 and 2^1000; 0 and infinity beyond."""
    found = _decay(-x.abs())
    found = torch.where(x > 0, 1.0 / found, found)
    return torch.where(
        x.abs() <= -_LEAST_DECAY * _LN_2[0], found, torch.where(x > 0, math.inf, torch.where(x < 0, 0.0, x))
    )


def _decay(x: torch.Tensor) -> torch.Tensor:
    """e^x for x ≤ 0."""
    high, low = _LN_2
    kept = torch.where(x > _LEAST_DECAY * high, x, _LEAST_DECAY * high)
    k = torch.floor(kept * _LOG2_E + 0.5)
    r = (kept - k * high) - k * low
    return torch.where(x.isnan(), x, _polynomial(r, _TAYLOR) * power_of_two(k))


def logarithm(x: torch.Tensor) -> torch.Tensor:
    """Ln x."""
    mantissa, exponent = torch.frexp(x)
    low = mantissa < _HALF_ROOT
    mantissa, exponent = torch.where(low, mantissa * 2.0, mantissa), exponent - low.int()
    z = (mantissa - 1.0) / (mantissa + 1.0)
    high, rest = (exponent.double() * each for each in _LN_2)
    found = high + (_polynomial(z * z, _ARTANH) * z * 2.0 + rest)
    found = torch.where(x > 0, found, torch.where(x == 0, -math.inf, math.nan))
    return torch.where(x == math.inf, x, found)


def logarithm_of_more(x: torch.Tensor) -> torch.Tensor:
    """Ln(1 + x), precise for small x, too (Kahan)."""
    above = x + 1.0
    found = torch.where(above == 1.0, x, logarithm(above) * (x / (above - 1.0)))
    return torch.where(above == math.inf, above, found)


def hyperbolic_tangent(x: torch.Tensor) -> torch.Tensor:
    """Tanh x."""
    t = _decay(x.abs() * -2.0)
    found = (1.0 - t) / (1.0 + t)
    return torch.where(x < 0, -found, found)


def sigmoid(x: torch.Tensor) -> torch.Tensor:
    """1/(1 + e^−x)."""
    t = _decay(-x.abs())
    return torch.where(x < 0, t, 1.0) / (1.0 + t)


def error_function(x: torch.Tensor) -> torch.Tensor:
    """Erf x, to seven digits."""
    z = x.abs()
    t = 1.0 / (1.0 + z * 0.5)
    found = 1.0 - t * _decay(torch.clamp(_polynomial(t, _ERFC) - z * z, max=0.0))
    return torch.where(x < 0, -found, found)
