"""What takes the place of operations of torch whose order of computing is not known.

Each function has the arguments of the operation that it replaces, and a result that no order can change: sums go by
halves, convolutions and look-ups add whole numbers, pools go number by number. ``operations.py`` says which replaces
which; ``docs/one-persons-row.md`` is the proof.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import torch

from bipartite.learn.gradients.exact_numbers import added_at, bits_for, scaled, square_root, total, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Tensor = torch.Tensor
    Pair = tuple[int, int]

_LARGEST_WHOLE: Final = 2.0**53
_LARGEST_POWER: Final = 4


class NotOrderFree(Exception):  # noqa: N818 (not an error yet: a refusal names the network)
    """An operation whose order of computing is not known, in words that follow "got"."""


def _only(name: str, **given: tuple[object, object]) -> None:
    """Refuse an option of an operation with another value than the one that is known."""
    odd = [f"{option}={value}" for option, (value, known) in given.items() if value != known]
    if odd:
        raise NotOrderFree(f"{name} with {', '.join(odd)}")


# --- sums ---


def sum_of(x: Tensor, axes: Sequence[int] | None = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:  # noqa: ANN401, FBT001, FBT002
    """Sums by halves."""
    if dtype is not None or not x.is_floating_point():
        x = converted(x, dtype=dtype or torch.int64)
    return total(x, axes, keepdim)


def mean(x: Tensor, axes: Sequence[int] | None = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:  # noqa: ANN401, FBT001, FBT002
    """The sum over the number of terms."""
    found = sum_of(x, axes, keepdim, dtype=dtype)
    return found / (x.numel() // max(1, found.numel()))


def variance_and_mean(
    x: Tensor,
    axes: Sequence[int] | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> tuple[Tensor, Tensor]:
    """``var_mean``: squares of what differs from the mean."""
    middle = mean(x, axes, keepdim=True)
    count = x.numel() // max(1, middle.numel())
    apart = x - middle
    spread = total(apart * apart, axes, keepdim) / max(0, count - (1 if correction is None else correction))
    return spread, middle if keepdim else mean(x, axes)


def _check_places(index: Tensor, least: int, end: int) -> None:
    """Refuse places beyond the end: one person's numbers end where another's begin, and a GPU would stop for good."""
    if not bool(((index >= least) & (index < end)).all()):
        raise IndexError("a place is out of range")  # whoever computes rows says so, without naming it


def within_range(operation: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A look-up along an axis, at places that are there."""

    def found(x: Tensor, axis: int, index: Tensor, *others: Any, **options: Any) -> Tensor:  # noqa: ANN401
        _check_places(index, 0, x.shape[axis])
        return operation(x, axis, index, *others, **options)

    return found


def look_up(x: Tensor, index: Sequence[Tensor | None]) -> Tensor:
    """``index``, at places that are there."""
    for axis, each in enumerate(index):
        if each is not None and each.dtype != torch.bool:
            _check_places(each, -x.shape[axis], x.shape[axis])
    found: Tensor = torch.ops.aten.index.Tensor(x, index)
    return found


def scatter_add(x: Tensor, axis: int, index: Tensor, added: Tensor) -> Tensor:
    """``scatter_add``: each number at its place along an axis."""
    axis %= x.dim()
    _check_places(index, 0, x.shape[axis])
    index = index.movedim(axis, -1)
    added = added[tuple(slice(each) for each in index.movedim(-1, axis).shape)].movedim(axis, -1)
    before = x.movedim(axis, -1)
    inner = before[tuple(slice(each) for each in index.shape[:-1])].shape[:-1]
    if inner != before.shape[:-1]:
        raise NotOrderFree("scatter_add with an index smaller than what is added to")
    count = before.shape[-1]
    lines = torch.arange(math.prod(inner), device=x.device).repeat_interleave(index.shape[-1]) * count
    sums = added_at(added.reshape(-1, 1), lines + index.reshape(-1), math.prod(inner) * count)
    return x + sums.reshape(*inner, count).movedim(-1, axis)


def index_put(x: Tensor, index: Sequence[Tensor | None], values: Tensor, accumulate: bool = False) -> Tensor:  # noqa: FBT001, FBT002
    """``index_put``, where it adds."""
    _only("index_put", accumulate=(accumulate, True))
    given = [each for each in index if each is not None]
    first = next(at for at, each in enumerate(index) if each is not None)
    if any(each is None for each in index[first : first + len(given)]) or any(
        each.dtype == torch.bool for each in given
    ):
        raise NotOrderFree("index_put with a mask or with indices that do not stand together")
    sizes = x.shape[first : first + len(given)]
    places = torch.zeros((), dtype=torch.int64, device=x.device)
    for each, size in zip(given, sizes, strict=True):
        _check_places(each, -size, size)
        places = places * size + torch.where(each < 0, each + size, each)
    before, after = x.shape[:first], x.shape[first + len(given) :]
    rows = values.expand(*before, *places.shape, *after).movedim(
        tuple(range(first, first + places.dim())), tuple(range(places.dim()))
    )
    sums = added_at(rows.reshape(places.numel(), -1), places.reshape(-1), math.prod(sizes))
    return x + sums.reshape(*sizes, *before, *after).movedim(
        tuple(range(len(sizes))), tuple(range(first, first + len(sizes)))
    )


# --- convolutions, as products of windows ---


def _two(values: Sequence[int]) -> Pair:
    return (int(values[0]), int(values[-1]))


def _windows(x: Tensor, window: Pair, stride: Pair, padding: Pair) -> tuple[Tensor, Pair]:
    """(people, channels × places of the window, windows), and how many windows there are downwards and sideways."""
    (down, across), (rows, columns) = stride, padding
    x = torch.nn.functional.pad(x, (columns, columns, rows, rows))
    found = x.unfold(2, window[0], down).unfold(3, window[1], across)
    moved = found.permute(0, 1, 4, 5, 2, 3)
    return moved.reshape(len(x), x.shape[1] * window[0] * window[1], -1), (found.shape[2], found.shape[3])


def _known_convolution(dilation: Sequence[int], transposed: bool, output_padding: Sequence[int]) -> None:  # noqa: FBT001
    _only(
        "convolution",
        dilation=(set(dilation), {1}),
        transposed=(transposed, False),
        output_padding=(set(output_padding), {0}),
    )


def convolution(  # noqa: PLR0913, PLR0917 (torch's)
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,  # noqa: FBT001
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """Products of whole numbers: of each picture's windows, and of each channel's weights."""
    _known_convolution(dilation, transposed, output_padding)
    if x.dim() == 3:  # noqa: PLR2004 (a line is a picture of one row)
        more = [1, *stride], [0, *padding], dilation, transposed, output_padding, groups
        return convolution(x[:, :, None], weight[:, :, None], bias, *more)[:, :, 0]
    _of_pictures(x)
    people, out, terms = len(x), len(weight), weight[0].numel()
    p, q = bits_for(terms)
    numbers, by_person = whole(x.reshape(people, groups, -1), [2], p)
    windows, places = _windows(numbers.reshape(x.shape), _two(weight.shape[2:]), _two(stride), _two(padding))
    columns, by_channel = whole(weight.reshape(groups, out // groups, terms), [2], q)
    sums = columns @ windows.reshape(people, groups, terms, -1)
    found = scaled(sums, by_person[..., None], by_channel).reshape(people, out, *places)
    return found if bias is None else found + bias[:, None, None]


def convolution_backward(  # noqa: PLR0913, PLR0917 (torch's)
    d: Tensor,
    x: Tensor,
    weight: Tensor,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,  # noqa: FBT001
    output_padding: Sequence[int],
    groups: int,
    wanted: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Gradients of the pictures, the weights and the bias.

    Scales are those of single channels: where gradients are shared by all, people are channels before the layer.
    """
    _known_convolution(dilation, transposed, output_padding)
    if x.dim() == 3:  # noqa: PLR2004
        more = bias_sizes, [1, *stride], [0, *padding], dilation, transposed, output_padding, groups, wanted
        of_x, of_weight, of_bias = convolution_backward(d[:, :, None], x[:, :, None], weight[:, :, None], *more)
        return of_x if of_x is None else of_x[:, :, 0], of_weight if of_weight is None else of_weight[:, :, 0], of_bias
    _of_pictures(x)
    people, out, window, moved = len(x), len(weight), _two(weight.shape[2:]), _two(stride)
    grouped = d.reshape(people, groups, out // groups, -1)
    of_x = of_weight = of_bias = None
    if wanted[0]:
        # The number of products in which one number before the layer takes part: windows times channels.
        p, q = bits_for(out // groups * math.ceil(window[0] / moved[0]) * math.ceil(window[1] / moved[1]))
        rows, by_person = whole(grouped, [2, 3], p)
        columns, by_channel = whole(weight.reshape(groups, out // groups, x.shape[1] // groups, -1), [1, 3], q)
        parts = (columns.flatten(2).transpose(1, 2) @ rows).reshape(people, -1, grouped.shape[3])
        folded = torch.nn.functional.fold(parts, x.shape[2:], window, padding=_two(padding), stride=moved)
        by_place = folded.reshape(people, groups, x.shape[1] // groups, -1)
        of_x = scaled(by_place, by_person, by_channel[:, 0]).reshape(x.shape)
    if wanted[1]:
        p, q = bits_for(people * grouped.shape[3])
        numbers, by_channel = whole(x.reshape(people, x.shape[1], -1), [0, 2], p)
        windows, _ = _windows(numbers.reshape(x.shape), window, moved, _two(padding))
        ends, by_end = whole(grouped, [0, 3], q)
        places = windows.reshape(people, groups, -1, grouped.shape[3]).permute(1, 0, 3, 2).flatten(1, 2)
        sums = (ends.permute(1, 2, 0, 3).flatten(2) @ places).reshape(groups, out // groups, x.shape[1] // groups, -1)
        of_weight = scaled(sums, by_channel.reshape(groups, 1, -1, 1), by_end[0, ..., None]).reshape(weight.shape)
    if wanted[2]:
        of_bias = total(d, [0, 2, 3])
    return of_x, of_weight, of_bias


def _of_pictures(x: Tensor) -> None:
    if x.dim() != 4:  # noqa: PLR2004
        raise NotOrderFree(f"convolution over {x.dim() - 2} axes")


# --- pools ---


def _at_each_place(x: Tensor, window: Pair, stride: Pair, dilation: Pair = (1, 1)) -> Iterator[tuple[Pair, Tensor]]:
    """Each place in the window, and the numbers at it, for all windows: a view."""
    high, wide = (
        (size - spread * (length - 1) - 1) // step + 1
        for size, length, step, spread in zip(x.shape[-2:], window, stride, dilation, strict=True)
    )
    for a in range(window[0]):
        for b in range(window[1]):
            top, left = a * dilation[0], b * dilation[1]
            rows = slice(top, top + (high - 1) * stride[0] + 1, stride[0])
            columns = slice(left, left + (wide - 1) * stride[1] + 1, stride[1])
            yield (top, left), x[..., rows, columns]


def _positions(x: Tensor, padding: Pair) -> Tensor:
    """The number of each place of a padded picture among those of the picture."""
    rows = torch.arange(x.shape[-2] + 2 * padding[0], device=x.device) - padding[0]
    columns = torch.arange(x.shape[-1] + 2 * padding[1], device=x.device) - padding[1]
    return rows[:, None] * x.shape[-1] + columns


def max_pool(
    x: Tensor,
    window: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,  # noqa: FBT001, FBT002
) -> tuple[Tensor, Tensor]:
    """The largest number of each window, the first of several, and its place."""
    _only("max_pool2d", ceil_mode=(ceil_mode, False))
    edges, shape = _two(padding), (_two(window), _two(stride or window), _two(dilation))
    padded = torch.nn.functional.pad(x, (edges[1], edges[1], edges[0], edges[0]), value=-math.inf)
    places = zip(_at_each_place(padded, *shape), _at_each_place(_positions(x, edges), *shape), strict=True)
    (_, found), (_, first) = next(places)
    which = first.expand(found.shape)
    for (_, each), (_, at) in places:
        larger = (each > found) | each.isnan()
        found, which = torch.where(larger, each, found), torch.where(larger, at, which)
    return found.contiguous(), which.contiguous()


def max_pool_backward(  # noqa: PLR0913, PLR0917 (torch's)
    d: Tensor,
    x: Tensor,
    window: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,  # noqa: FBT001
    which: Tensor,
) -> Tensor:
    """Each gradient added at its place, one place of the window after another."""
    _only("max_pool2d", ceil_mode=(ceil_mode, False))
    edges, shape = _two(padding), (_two(window), _two(stride or window), _two(dilation))
    positions = _positions(x, edges)
    found = d.new_zeros((*x.shape[:-2], *positions.shape))
    places = zip(_at_each_place(found, *shape), _at_each_place(positions, *shape), strict=True)
    for (_, here), (_, at) in places:
        here.add_(torch.where(which == at, d, 0.0))
    return _inside(found, x, edges)


def _inside(padded: Tensor, x: Tensor, edges: Pair) -> Tensor:
    return padded[..., edges[0] : edges[0] + x.shape[-2], edges[1] : edges[1] + x.shape[-1]].contiguous()


def average_pool(
    x: Tensor,
    window: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,  # noqa: FBT001, FBT002
    count_padding: bool = True,  # noqa: FBT001, FBT002
    divisor: int | None = None,
) -> Tensor:
    """The mean of each window, one place of the window after another."""
    size, step, (rows, columns) = _known_average(window, stride, padding, ceil_mode, count_padding, divisor)
    padded = torch.nn.functional.pad(x, (columns, columns, rows, rows))
    (_, found), *others = _at_each_place(padded, size, step)
    for _, each in others:
        found = found + each
    return found / math.prod(size)


def average_pool_backward(  # noqa: PLR0913, PLR0917 (torch's)
    d: Tensor,
    x: Tensor,
    window: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,  # noqa: FBT001
    count_padding: bool,  # noqa: FBT001
    divisor: int | None,
) -> Tensor:
    """Each gradient shared out over its window."""
    size, step, edges = _known_average(window, stride, padding, ceil_mode, count_padding, divisor)
    found = d.new_zeros((*x.shape[:-2], x.shape[-2] + 2 * edges[0], x.shape[-1] + 2 * edges[1]))
    share = d / math.prod(size)
    for _, here in _at_each_place(found, size, step):
        here.add_(share)
    return _inside(found, x, edges)


def _known_average(
    window: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,  # noqa: FBT001
    count_padding: bool,  # noqa: FBT001
    divisor: int | None,
) -> tuple[Pair, Pair, Pair]:
    counted = count_padding or not any(padding)
    _only(
        "avg_pool2d", ceil_mode=(ceil_mode, False), count_include_pad=(counted, True), divisor_override=(divisor, None)
    )
    return _two(window), _two(stride or window), _two(padding)


# --- number by number ---


def power(x: Tensor, exponent: float) -> Tensor:
    """A small power, whole or with a half: products and a root."""
    if exponent < 0:
        return 1.0 / power(x, -exponent)
    half = exponent % 1
    if half not in {0, 0.5} or exponent > _LARGEST_POWER:
        raise NotOrderFree(f"a power of {exponent:g}")
    found = square_root(x) if half else torch.ones_like(x)
    for _ in range(int(exponent)):
        found = found * x
    return found


def signless(operation: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Of +0 and −0, which are equal, vectors may take another one than the last few numbers: here it is always +0."""

    def found(*args: Any, **kwargs: Any) -> Tensor:  # noqa: ANN401
        result = operation(*args, **kwargs)
        return result + 0.0 if result.is_floating_point() else result

    return found


def converted(x: Tensor | float, *, dtype: Any = None, **options: Any) -> Any:  # noqa: ANN401
    """``to``: what no whole number of this type can be becomes the nearest; processors do not agree on it."""
    if not isinstance(x, torch.Tensor):  # a number of Python's beside one number each
        x = torch.tensor(x, device=options.get("device"))
    if x.is_floating_point() and dtype in {torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8}:
        least, most = (max(-_LARGEST_WHOLE, min(float(end), _LARGEST_WHOLE)) for end in _ends(dtype))
        x = torch.where(x.isnan(), 0.0, x.clamp(least, most))
    return torch.ops.aten._to_copy.default(x, dtype=dtype, **options)  # noqa: SLF001


def _ends(dtype: torch.dtype) -> Pair:
    numbers = torch.iinfo(dtype)
    return numbers.min, numbers.max


def steps(start: float, end: float, step: float = 1, **options: Any) -> Tensor:  # noqa: ANN401
    """``arange`` in two roundings: torch's own depends on how its work is shared out."""
    found = torch.arange(start, end, step, **options)
    return torch.arange(len(found), **options) * step + start if found.is_floating_point() else found


def empty(*args: Any, **kwargs: Any) -> Tensor:  # noqa: ANN401
    """Memory as it comes would hold what was computed before: others' numbers."""
    size = args[0]
    return torch.zeros(size, **{key: value for key, value in kwargs.items() if key in {"dtype", "device"}})
