"""Arithmetic on rows whose result cannot depend on the order in which a device computes.

Matrix products add in an order of the library's choosing. Here their operands are whole numbers, so small that every
partial sum is a whole number below 2^53 and therefore exact as a double: whichever kernel, order, tile or number of
threads is used, the result is the same. A row becomes whole numbers by a power of two of that row alone. Everything
else is elementwise: +, −, ×, ÷ and square roots that IEEE 754 defines to the last bit, comparisons, and data movement.
Other sums are taken by halves, which is elementwise addition again.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np
import torch

from bipartite.errors import InputError
from bipartite.learn.gradients.elementary import EXPONENTS, LN_2, LOG2_E, TAYLOR

if TYPE_CHECKING:
    from collections.abc import Sequence

_EXACT_BITS: Final = 53
# A number below 2^-900 counts as one of that size: its row becomes zeros, and no power of two below overflows.
_SMALLEST: Final = -900
_LEAST_SUBNORMAL: Final = 5e-324
# Torch gives another thread work from this many numbers on.
_A_THREADS_NUMBERS: Final = 2**15


def bits_for(*terms: int) -> int:
    """The bits of one operand of products that are summed, ``terms`` at a time; about half of what a double has."""
    return (_EXACT_BITS - max(math.ceil(math.log2(each)) for each in terms)) // 2


def bits_left(bits: int, terms: int) -> int:
    """How many bits the other operand may have: ``terms`` products of both are at most 2^53."""
    return _EXACT_BITS - math.ceil(math.log2(terms)) - bits


@cache
def _powers(device: torch.device) -> torch.Tensor:
    """2^k from 2^−1000 to 2^1000, exact: torch's own powers are computed by logarithms."""
    return torch.tensor(
        [math.ldexp(1.0, k) for k in range(-EXPONENTS, EXPONENTS + 1)], dtype=torch.float64, device=device
    )


def power_of_two(exponents: torch.Tensor) -> torch.Tensor:
    """2^k of whole numbers from −1000 to 1000."""
    return _powers(exponents.device)[exponents.long() + EXPONENTS]


class WholeRows:
    """Rows as whole numbers of at most ``bits`` bits, each by its own power of two; what is not finite becomes zero."""

    def __init__(self, rows: torch.Tensor, bits: int) -> None:
        largest = rows.flatten(1).abs().amax(1)
        self.finite = largest.isfinite()
        exponents = torch.frexp(torch.where(self.finite, largest, 0.0))[1].clamp(min=_SMALLEST)
        shape = (-1,) + (1,) * (rows.dim() - 1)
        # In two steps, for 2^1022 times 2^bits has no room in a double.
        self.numbers = torch.where(self.finite.view(shape), rows, 0.0)
        for half in (-exponents // 2 + bits, -exponents - (-exponents // 2)):
            self.numbers = self.numbers * power_of_two(half).view(shape)
        self.numbers = self.numbers.round_()
        self._exponents = exponents
        self._bits = bits

    def scaled(self, products: torch.Tensor, other: WholeRows | None = None) -> torch.Tensor:
        """Products of these numbers, and of those of other rows or a weight, at their true size."""
        shape = (-1,) + (1,) * (products.dim() - 1)
        for rows in (self, other):
            if rows is not None:
                half = rows._exponents // 2  # noqa: SLF001 (its own class)
                products = products * power_of_two(half - rows._bits).view(shape)  # noqa: SLF001
                products = products * power_of_two(rows._exponents - half).view(shape)  # noqa: SLF001
        return products


def must_keep_subnormals() -> None:
    """Refuse threads of torch that take subnormal numbers for zero, of which there may be some beside others."""
    numbers = torch.full((_A_THREADS_NUMBERS * torch.get_num_threads(),), _LEAST_SUBNORMAL, dtype=torch.float64)
    if bool((numbers * 1.0 == 0).any()):
        raise InputError(
            "Expected IEEE arithmetic, got a processor that takes subnormal numbers for zero, perhaps in some threads "
            "only; call torch.set_flush_denormal(False) before torch computes anything."
        )


def square_root(x: torch.Tensor) -> torch.Tensor:
    """√x, rounded correctly: on a CPU torch calls MKL, whose last bit is wrong for about one number in 70."""
    return torch.from_numpy(np.sqrt(x.numpy())) if x.device.type == "cpu" else x.sqrt()


def by_halves(terms: torch.Tensor) -> torch.Tensor:
    """The sum over the last axis: the first half plus the second, again and again; an odd one is carried along."""
    while terms.shape[-1] > 1:
        half = terms.shape[-1] // 2
        added = terms[..., :half] + terms[..., half : 2 * half]
        terms = torch.cat([added, terms[..., 2 * half :]], dim=-1) if terms.shape[-1] % 2 else added
    return terms[..., 0]


def polynomial(x: torch.Tensor, coefficients: Sequence[float]) -> torch.Tensor:
    """Horner's rule, one rounding for each product and each sum."""
    found = torch.full_like(x, coefficients[0])
    for each in coefficients[1:]:
        found = found * x
        found = found + each
    return found


def exponential(x: torch.Tensor) -> torch.Tensor:
    """e^x for x ≤ 0."""
    high, low = LN_2
    kept = torch.where(x > -EXPONENTS * high, x, -EXPONENTS * high)  # also for what is not a number, which stays one
    k = torch.floor(kept * LOG2_E + 0.5)
    r = (kept - k * high) - k * low
    return polynomial(r, TAYLOR) * power_of_two(k) + x * 0.0


def hyperbolic_tangent(x: torch.Tensor) -> torch.Tensor:
    """Tanh x."""
    t = exponential(-2.0 * x.abs())
    found = (1.0 - t) / (1.0 + t)
    return torch.where(x < 0, -found, found)


def sigmoid(x: torch.Tensor) -> torch.Tensor:
    """1/(1 + e^−x)."""
    t = exponential(-x.abs())
    return torch.where(x < 0, t, 1.0) / (1.0 + t)
