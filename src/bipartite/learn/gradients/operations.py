"""The operations of torch in which no order of computing can change a bit of anybody's result.

Under :class:`OrderFree` each operation of a computation is one of three kinds, and any other is refused:

- it *moves* numbers, compares them, or rounds once for each result: result k is a function of operands k alone;
- it *is replaced* by one whose result no order can change (``replacements.py``, ``exact_numbers.py``);
- it was taken apart into such operations beforehand (``PARTS``).

Operations are known by their full names, with the types of their arguments: one that another version of torch renames
or adds is refused. ``docs/one-persons-row.md`` is the proof.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import torch
from torch._decomp import get_decompositions
from torch.utils._python_dispatch import TorchDispatchMode

from bipartite.learn.gradients import exact_numbers, replacements
from bipartite.learn.gradients.replacements import NotOrderFree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Tensor = torch.Tensor

aten: Final = torch.ops.aten
_REPLACED: Final[Mapping[str, Callable[..., Any]]] = {
    "mm": exact_numbers.product,
    "bmm": exact_numbers.product,
    "sum": replacements.sum_of,
    "sum.dim_IntList": replacements.sum_of,
    "mean": replacements.mean,
    "mean.dim": replacements.mean,
    "var_mean.correction": replacements.variance_and_mean,
    "var.correction": lambda *args, **kwargs: replacements.variance_and_mean(*args, **kwargs)[0],
    "convolution": replacements.convolution,
    "convolution_backward": replacements.convolution_backward,
    "max_pool2d_with_indices": replacements.max_pool,
    "max_pool2d_with_indices_backward": replacements.max_pool_backward,
    "avg_pool2d": replacements.average_pool,
    "avg_pool2d_backward": replacements.average_pool_backward,
    "gather": replacements.within_range(aten.gather.default),
    "index_select": replacements.within_range(aten.index_select.default),
    "scatter.value": replacements.within_range(aten.scatter.value),
    "index.Tensor": replacements.look_up,
    "scatter_add": replacements.scatter_add,
    "index_put": replacements.index_put,
    "erf": exact_numbers.error_function,
    "exp": exact_numbers.exponential,
    "log": exact_numbers.logarithm,
    "log1p": exact_numbers.logarithm_of_more,
    "tanh": exact_numbers.hyperbolic_tangent,
    "sigmoid": exact_numbers.sigmoid,
    "sqrt": exact_numbers.square_root,
    "rsqrt": lambda x: 1.0 / exact_numbers.square_root(x),
    "pow.Tensor_Scalar": replacements.power,
    "view": torch.reshape,  # a result here may lie in memory otherwise than torch's
    "_unsafe_view": torch.reshape,
    "_to_copy": replacements.converted,
    "arange.start_step": replacements.steps,
    "empty.memory_format": replacements.empty,
    "new_empty": lambda x, size, **options: x.new_zeros(size, **options),
    "empty_like": torch.zeros_like,
}
_SIGNLESS: Final = "amax amin maximum minimum clamp clamp.Tensor clamp_min clamp_max sgn sign"
_ONE_ROUNDING: Final = """
add.Tensor add.Scalar sub.Tensor sub.Scalar mul.Tensor mul.Scalar div.Tensor div.Scalar neg abs reciprocal
floor ceil round trunc frexp.Tensor isnan isinf isfinite
eq.Tensor eq.Scalar ne.Tensor ne.Scalar lt.Tensor lt.Scalar le.Tensor le.Scalar gt.Tensor gt.Scalar ge.Tensor ge.Scalar
all all.dim any any.dim logical_and logical_or logical_not logical_xor
bitwise_and.Tensor bitwise_or.Tensor bitwise_not where.self where.ScalarOther where.ScalarSelf where.Scalar
"""
_MOVES: Final = """
reshape alias detach clone contiguous t transpose.int permute expand squeeze squeeze.dim squeeze.dims unsqueeze
unsqueeze_ flatten.using_ints movedim.int slice.Tensor slice_backward select.int select_backward narrow split.Tensor
unsafe_split.Tensor split_with_sizes unbind.int chunk cat stack flip roll
constant_pad_nd unfold im2col diagonal tril triu repeat lift_fresh lift_fresh_copy pixel_shuffle pixel_unshuffle
masked_fill.Scalar masked_fill.Tensor fill_.Scalar zero_ full full_like zeros
zeros_like new_zeros ones ones_like new_ones new_full scalar_tensor arange arange.start eye
"""
_TAKEN_APART: Final = """
_softmax _safe_softmax _softmax_backward_data _log_softmax _log_softmax_backward_data nll_loss_forward nll_loss_backward
nll_loss2d_forward nll_loss2d_backward mse_loss mse_loss_backward smooth_l1_loss smooth_l1_loss_backward
huber_loss_backward binary_cross_entropy_with_logits log_sigmoid_forward log_sigmoid_backward silu silu_backward
gelu_backward threshold_backward leaky_relu_backward hardtanh_backward softplus_backward
native_layer_norm_backward native_group_norm_backward addmm addmv baddbmm mv hardswish hardswish_backward
elu elu_backward celu mish mish_backward hardsigmoid hardsigmoid_backward glu glu_backward _prelu_kernel
_prelu_kernel_backward huber_loss linalg_vector_norm native_batch_norm native_batch_norm_backward reflection_pad1d
reflection_pad1d_backward reflection_pad2d reflection_pad2d_backward
"""


def _named(name: str) -> Any:  # noqa: ANN401 (torch's operations have no type)
    """The operation of this name; None where this version of torch has none."""
    packet, _, overload = name.partition(".")
    return getattr(getattr(aten, packet, None), overload or "default", None)


REPLACED: Final = {
    **{_named(name): other for name, other in _REPLACED.items()},
    **{_named(name): replacements.signless(_named(name)) for name in _SIGNLESS.split() if _named(name)},
}
KNOWN: Final = frozenset(_named(name) for name in f"{_ONE_ROUNDING} {_MOVES}".split()) - {None}


# --- what is taken apart ---


def _relu(x: Tensor) -> Tensor:
    return torch.where(x <= 0, 0.0, x)


def _gelu(x: Tensor, *, approximate: str = "none") -> Tensor:
    if approximate == "none":
        return x * 0.5 * (torch.erf(x * math.sqrt(0.5)) + 1.0)
    inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
    return x * 0.5 * (torch.tanh(inner) + 1.0)


def _softplus(x: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    scaled_x = x * beta
    return torch.where(scaled_x > threshold, x, torch.log1p(torch.exp(torch.clamp(scaled_x, max=threshold))) / beta)


def _layer_norm(
    x: Tensor, shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, epsilon: float
) -> tuple[Tensor, Tensor, Tensor]:
    axes = list(range(x.dim() - len(shape), x.dim()))
    spread, mean = torch.var_mean(x, axes, correction=0, keepdim=True)
    scale = torch.rsqrt(spread + epsilon)
    found = (x - mean) * scale
    found = found if weight is None else found * weight
    return found if bias is None else found + bias, mean, scale


def _group_norm(  # noqa: PLR0913, PLR0917 (torch's)
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    n: int,
    channels: int,
    places: int,
    groups: int,
    epsilon: float,
) -> tuple[Tensor, Tensor, Tensor]:
    spread, mean = torch.var_mean(x.reshape(n, groups, -1), [2], correction=0, keepdim=True)
    scale = torch.rsqrt(spread + epsilon)
    found = ((x.reshape(n, groups, -1) - mean) * scale).reshape(n, channels, places)
    found = found if weight is None else found * weight[:, None]
    found = found if bias is None else found + bias[:, None]
    return found.reshape(x.shape), mean[..., 0], scale[..., 0]


def _look_up(table: Tensor, index: Tensor, *_: object) -> Tensor:
    """``embedding``, whose own way for many people looks beyond the end of one person's table into the next."""
    return table.index_select(0, index.reshape(-1)).reshape(*index.shape, -1)


def _looked_up_backward(d: Tensor, index: Tensor, count: int, padding: int, by_frequency: bool) -> Tensor:  # noqa: FBT001
    """Rows added at the places that were looked up."""
    if by_frequency:
        raise NotOrderFree("embedding with scale_grad_by_freq=True")
    rows = torch.where((index != padding)[..., None], d, 0.0)
    return torch.index_put(d.new_zeros((count, d.shape[-1])), (index,), rows, accumulate=True)


PARTS: Final[dict[Any, Callable[..., Any]]] = {
    **get_decompositions([each for name in _TAKEN_APART.split() if (each := getattr(aten, name, None))]),
    aten.relu.default: _relu,
    # torch's rule for many people rolls one number each from person to person
    aten.roll.default: lambda x, *_: NotImplemented if x.dim() else x.clone(),
    aten.embedding.default: _look_up,
    aten.embedding_dense_backward.default: _looked_up_backward,
    aten.leaky_relu.default: lambda x, slope=0.01: torch.where(x > 0, x, x * slope),
    aten.hardtanh.default: lambda x, low=-1.0, high=1.0: torch.clamp(x, low, high),
    aten.gelu.default: _gelu,
    aten.tanh_backward.default: lambda d, y: d * (1.0 - y * y),
    aten.sigmoid_backward.default: lambda d, y: d * (y * (1.0 - y)),
    aten.softplus.default: _softplus,
    aten.fill.Scalar: torch.full_like,
    aten.expm1.default: lambda x: torch.exp(x) - 1.0,
    aten.rsub.Scalar: lambda x, other, alpha=1: x * -alpha + other,
    aten.rsub.Tensor: lambda x, other, alpha=1: x * -alpha + other,
    aten.native_layer_norm.default: _layer_norm,
    aten.native_group_norm.default: _group_norm,
}
"""Operations of one person that are taken apart when a network is read."""


class OrderFree(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch has no types here
    """Computes what no order can change, in doubles and whole numbers, and refuses everything else."""

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401
        types: Any,  # noqa: ANN401
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        kwargs = kwargs or {}
        if func in REPLACED:
            found = REPLACED[func](*args, **kwargs)
        elif func in KNOWN and not _may_be_fused(func, args, kwargs):
            found = func(*args, **kwargs)
        else:
            raise NotOrderFree(_named_for_people(func))
        for each in _results(found):
            if each.dtype not in _EXACT:
                kind = str(each.dtype).removeprefix("torch.")
                raise NotOrderFree(f"{func} in {kind}; compute in the type of the features, as x.new_zeros(…) does")
        return found


def _may_be_fused(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:  # noqa: ANN401
    """Whether this is a + αb, which some kernels compute in one rounding and others in two."""
    by_place = args[2:] if func in {aten.add.Scalar, aten.sub.Scalar} else ()
    return any(alpha != 1 for alpha in (*by_place, kwargs.get("alpha", 1)))


def _results(found: Any) -> list[Tensor]:  # noqa: ANN401
    held = found if isinstance(found, (tuple, list)) else (found,)
    return [each for each in held if isinstance(each, torch.Tensor)]


class Widest(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch has no types here
    """Sees what is computed, also inside of what replaces an operation: the most numbers of any result."""

    numbers = 0

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401
        types: Any,  # noqa: ANN401
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        found = func(*args, **(kwargs or {}))
        self.numbers = max(self.numbers, *(each.numel() for each in _results(found)), 0)
        return found


_EXACT: Final = {torch.float64, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool}


def _named_for_people(func: Any) -> str:  # noqa: ANN401
    if torch.Tag.nondeterministic_seeded in func.tags:
        return f"{func}, which draws at random; leave that layer (dropout, perhaps) out, or call eval() on the network"
    return f"{func}"
