"""Compiler options, array types and products that the numba kernels share.

Importing this module fails where numba is missing or disabled; callers then fall back on NumPy.
"""

# ruff: noqa: ANN401 (an intrinsic is typed by numba)

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

if config.DISABLE_JIT:
    raise ImportError("numba's compiler is disabled")

OPTIONS: Final[dict[str, Any]] = {"nogil": True, "cache": True, "boundscheck": False, "error_model": "numpy"}


def read_only(kind: object, dimensions: int = 1, layout: str = "C") -> types.Array:
    """The type of an array that is only read, so that read-only ones (memory maps, Arrow) need no copy."""
    return types.Array(kind, dimensions, layout, readonly=True)


@intrinsic  # type: ignore[untyped-decorator]
def wide_product(typing_context: Any, a: Any, b: Any) -> Any:  # noqa: ARG001 (numba's calling convention)
    """(high, low) halves of the 128-bit product of two words."""
    signature = types.UniTuple(types.uint64, 2)(types.uint64, types.uint64)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide, word = ir.IntType(128), ir.IntType(64)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        high = builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), word)
        return context.make_tuple(builder, signature.return_type, (high, builder.trunc(product, word)))

    return signature, generate
