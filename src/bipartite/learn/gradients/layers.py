"""The layers whose gradients both ways of computing rows know, read from a ``torch.nn.Sequential``.

A network is read once for its layers and options, and once more for the shape of one person's features. What is not
known here is :class:`NotKnown`: a subclass of a layer, or one with a hook, may compute anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import torch
from torch import nn

from bipartite.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    Shape = tuple[int, ...]

_ACTIVATIONS: Final = {nn.ReLU: "relu", nn.Tanh: "tanh", nn.Sigmoid: "sigmoid", nn.SiLU: "silu"}
_NOTHING: Final = (nn.Identity, nn.Dropout, nn.Dropout2d)
_PICTURE: Final = 3
_DROPS: Final[Mapping[str, tuple[object, ...]]] = {"training": (False,)}
_POOLS: Final[Mapping[str, tuple[object, ...]]] = {"padding": (0, (0, 0)), "ceil_mode": (False,)}
# Options that change what a layer does, and the values of them that are known.
_USUAL: Final[Mapping[type[nn.Module], Mapping[str, tuple[object, ...]]]] = {
    nn.Dropout: _DROPS,
    nn.Dropout2d: _DROPS,
    nn.GELU: {"approximate": ("tanh",)},
    nn.Conv2d: {"groups": (1,), "dilation": ((1, 1),), "padding_mode": ("zeros",)},
    nn.MaxPool2d: {**_POOLS, "dilation": (1, (1, 1)), "return_indices": (False,)},
    nn.AvgPool2d: {**_POOLS, "divisor_override": (None,)},
}
KNOWN: Final = (
    "Linear, Conv2d, ZeroPad2d, MaxPool2d, AvgPool2d, GroupNorm, ReLU, Tanh, Sigmoid, SiLU, GELU(approximate='tanh'), "
    "Flatten and Unflatten in torch.nn.Sequential, with cross_entropy or mse_loss"
)


class NotKnown(Exception):  # noqa: N818 (not an error yet: another way may be asked for)
    """What is not known, in words that follow "got"."""


@dataclass(frozen=True)
class Layer:
    """One layer for one person: what it does, from which shape to which, and with which parameters."""

    kind: str
    before: Shape
    after: Shape
    weight: torch.Tensor | None = None
    bias: torch.Tensor | None = None
    window: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    margin: tuple[int, int] = (0, 0)
    """Rows above and columns to the left that padding adds."""
    groups: int = 1
    epsilon: float = 0.0


def loss_name(loss: Loss) -> str:
    """``"classes"`` for cross entropy, ``"squares"`` for the mean squared error."""
    if isinstance(loss, nn.CrossEntropyLoss) and type(loss) is nn.CrossEntropyLoss:
        plain = loss.weight is None and not loss.label_smoothing and loss.ignore_index < 0
        if plain and loss.reduction in {"mean", "sum"}:
            return "classes"
    if type(loss) is nn.MSELoss and loss.reduction == "mean":
        return "squares"
    if loss is nn.functional.cross_entropy:
        return "classes"
    if loss is nn.functional.mse_loss:
        return "squares"
    raise NotKnown(f"the loss {getattr(loss, '__name__', type(loss).__name__)}")


def modules_of(network: nn.Module) -> list[nn.Module]:
    """The layers of a network in their order; refuses those that no way of computing can take."""
    found = list(_flat(network, ""))
    parameters = [id(each) for module in found for _, each in module.named_parameters(remove_duplicate=False)]
    if len(parameters) != len(set(parameters)):
        raise NotKnown("a parameter that is used twice")
    if len(parameters) != sum(1 for _ in network.parameters()):
        raise NotKnown("parameters outside of its layers")
    return found


def _flat(module: nn.Module, name: str) -> list[nn.Module]:
    hooks = (module._forward_hooks, module._forward_pre_hooks, module._backward_hooks, module._backward_pre_hooks)  # noqa: SLF001
    if any(hooks):
        raise NotKnown(f"a hook on {type(module).__name__}{_in(name)}")
    if "forward" in vars(module):
        raise NotKnown(f"a forward() of its own on {type(module).__name__}{_in(name)}")
    if type(module) is nn.Sequential:
        # Not named_children(), which leaves out a module that was there before.
        children = vars(module)["_modules"].items()
        return [each for key, child in children for each in _flat(child, f"{name}.{key}".lstrip("."))]
    problem = _problem(module)
    if problem is not None:
        raise NotKnown(problem + _in(name))
    return [] if type(module) in _NOTHING else [module]


def _in(name: str) -> str:
    return f" in {name!r}" if name else ""


def _problem(module: nn.Module) -> str | None:
    """Why a layer is not known; None where it is."""
    kind = type(module)
    name = kind.__name__
    if kind not in _ACTIVATIONS and kind not in _READERS and kind not in _NOTHING and kind is not nn.GELU:
        return name
    given = {option: getattr(module, option) for option in _USUAL.get(kind, {})}
    odd = [f"{option}={each!r}" for option, each in given.items() if each not in _USUAL[kind][option]]
    if odd:
        return f"{name}({', '.join(odd)})"
    # Every trained parameter must be read, at its size: nobody would write the others' part of a row.
    read = _parameters(module)
    given = {each: tuple(parameter.shape) for each, parameter in module.named_parameters(remove_duplicate=False)}
    given |= {each: tuple(getattr(module, each).shape) for each in read if getattr(module, each) is not None}
    odd = [f"{each} of shape {shape}" for each, shape in given.items() if read.get(each) != shape]
    if kind in {nn.Linear, nn.Conv2d} and "weight" not in given:
        odd.append("no weight")
    return f"{name} with {' and '.join(odd)}" if odd else None


def _parameters(module: nn.Module) -> dict[str, Shape]:
    """The parameters of a layer, and their shapes."""
    if isinstance(module, nn.Linear):
        return {"weight": (module.out_features, module.in_features), "bias": (module.out_features,)}
    if isinstance(module, nn.Conv2d):
        return {
            "weight": (module.out_channels, module.in_channels, *_pair(module.kernel_size)),
            "bias": (module.out_channels,),
        }
    if isinstance(module, nn.GroupNorm):
        return {"weight": (module.num_channels,), "bias": (module.num_channels,)}
    return {}


def _pair(value: Any) -> tuple[int, int]:  # noqa: ANN401 (a number or two of them)
    return (value, value) if isinstance(value, int) else (int(value[0]), int(value[1]))


def shaped(modules: Sequence[nn.Module], shape: Shape) -> list[Layer]:
    """Every layer with the shapes before and after it, for one person's features of this shape."""
    found: list[Layer] = []
    for module in modules:
        for layer in _layers(module, shape):
            if min(layer.after, default=1) < 1:
                raise _unfit(module, shape)
            found.append(layer)
            shape = layer.after
    return found


def _unfit(module: nn.Module, shape: Shape) -> InputError:
    return InputError(f"Expected features that fit the network, got shape {shape} for one person at {module}.")


def _layers(module: nn.Module, shape: Shape) -> list[Layer]:
    kind = "gelu" if isinstance(module, nn.GELU) else _ACTIVATIONS.get(type(module))
    if kind is not None:
        return [Layer(kind, shape, shape)]
    found: list[Layer] = _READERS[type(module)](module, shape)
    return found


def _flattened(module: nn.Flatten, shape: Shape) -> list[Layer]:
    if module.start_dim != 1 or module.end_dim not in {-1, len(shape)}:
        raise _unfit(module, shape)
    return [Layer("flatten", shape, (math.prod(shape),))]


def _unflattened(module: nn.Unflatten, shape: Shape) -> list[Layer]:
    after = tuple(int(each) for each in module.unflattened_size)
    if len(shape) != 1 or module.dim != 1 or math.prod(after) != shape[0] or len(after) != _PICTURE:
        raise _unfit(module, shape)
    return [Layer("unflatten", shape, after)]


def _linear(module: nn.Linear, shape: Shape) -> list[Layer]:
    if shape != (module.in_features,):
        raise _unfit(module, shape)
    return [Layer("linear", shape, (module.out_features,), module.weight, module.bias)]


def _norm(module: nn.GroupNorm, shape: Shape) -> list[Layer]:
    if len(shape) not in {1, _PICTURE} or shape[0] != module.num_channels:
        raise _unfit(module, shape)
    return [Layer("norm", shape, shape, module.weight, module.bias, groups=module.num_groups, epsilon=module.eps)]


def _zero_pad(module: nn.ZeroPad2d, shape: Shape) -> list[Layer]:
    if len(shape) != _PICTURE:
        raise _unfit(module, shape)
    left, right, top, bottom = module.padding
    return [_padded(shape, top, bottom, left, right)]


def _pool(module: nn.MaxPool2d | nn.AvgPool2d, shape: Shape) -> list[Layer]:
    if len(shape) != _PICTURE:
        raise _unfit(module, shape)
    window, stride = _pair(module.kernel_size), _pair(module.stride)
    kind = "max" if isinstance(module, nn.MaxPool2d) else "mean"
    return [Layer(kind, shape, (shape[0], *_reached(shape, window, stride)), window=window, stride=stride)]


def _convolution(module: nn.Conv2d, shape: Shape) -> list[Layer]:
    if len(shape) != _PICTURE or shape[0] != module.in_channels:
        raise _unfit(module, shape)
    window, stride = _pair(module.kernel_size), _pair(module.stride)
    if module.padding == "same":
        # As torch does it: what cannot be halved goes below and to the right.
        rows, columns = window[0] - 1, window[1] - 1
        edges = (rows // 2, rows - rows // 2, columns // 2, columns - columns // 2)
    else:
        rows, columns = (0, 0) if module.padding == "valid" else _pair(module.padding)
        edges = (rows, rows, columns, columns)
    layers = [_padded(shape, *edges)] if any(edges) else []
    before = layers[0].after if layers else shape
    after = (module.out_channels, *_reached(before, window, stride))
    return [*layers, Layer("conv", before, after, module.weight, module.bias, window=window, stride=stride)]


def _padded(shape: Shape, top: int, bottom: int, left: int, right: int) -> Layer:
    if min(top, bottom, left, right) < 0:
        raise InputError("Expected padding of at least 0, got a negative number; cut the pictures beforehand.")
    after = (shape[0], shape[1] + top + bottom, shape[2] + left + right)
    return Layer("pad", shape, after, margin=(top, left))


def _reached(shape: Shape, window: tuple[int, int], stride: tuple[int, int]) -> tuple[int, int]:
    """How many places a window has, downwards and sideways."""
    return (shape[1] - window[0]) // stride[0] + 1, (shape[2] - window[1]) // stride[1] + 1


_READERS: Final[dict[type[nn.Module], Any]] = {
    nn.Linear: _linear,
    nn.Conv2d: _convolution,
    nn.ZeroPad2d: _zero_pad,
    nn.MaxPool2d: _pool,
    nn.AvgPool2d: _pool,
    nn.GroupNorm: _norm,
    nn.Flatten: _flattened,
    nn.Unflatten: _unflattened,
}
