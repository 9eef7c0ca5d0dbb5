"""Where a picture is drawn, what it says in words, and how it becomes SVG text or a file."""

from __future__ import annotations

import contextlib
import html
import importlib
import io
import re
import textwrap
import threading
import warnings
import zlib
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from bipartite.errors import InputError, MissingExtraError, missing_library, shown
from bipartite.texts import escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE: Final = "bipartite.plots.bipartite"
"""The style sheet: ``plt.style.use(STYLE)``."""
WIDTH: Final = 5.2  # inches: with letters of 9.5 points it reads on a phone
SIZE: Final = (WIDTH, 3.2)
_OURS: Final = "bipartite"  # the label of a figure that we made
_ENDINGS: Final = (".svg", ".png", ".pdf")
_NOTE: Final[dict[str, Any]] = {"fontsize": 8.5, "color": "#555555"}
_LETTERS: Final = 72  # of a note, in one line below a figure of the usual width, even if many are digits
_TITLE: Final = 42  # letters of a title, which are larger and bold
_ATTRIBUTE: Final = re.compile(r' (?:d|x|y|x1|y1|x2|y2|cx|cy|r|width|height|points|transform)="[^"]*"')
_REFERENCE: Final = re.compile(r'((?: id="|#))([\w.-]+)')
_LONG: Final = re.compile(r"-?\d+\.\d{3,}")
_ONE: Final = threading.RLock()
_alone: ContextVar[bool] = ContextVar("alone", default=False)  # whether figures are made without pyplot


def need_matplotlib(what: str = "A picture") -> None:
    """Raise ``MissingExtraError``, which names the extra, unless matplotlib is installed."""
    try:
        importlib.import_module("matplotlib")
    except ImportError:
        raise missing_library(what=f"{what} needs", library="matplotlib", extra="plots") from None


def check_ending(file: str | Path) -> Path:
    """The path of a picture, refused unless its ending names a format that we write."""
    path = Path(file)
    if path.suffix.lower() not in _ENDINGS:
        raise InputError(f"Expected a file name ending in {', '.join(_ENDINGS)}, got {shown(path.name)}; rename it.")
    return path


@contextlib.contextmanager
def axes(ax: Axes | None, size: tuple[float, float] = SIZE, *, polar: bool = False) -> Iterator[Axes]:
    """The axes to draw on: ``ax``, in whatever style they have; or those of a new figure, in ours.

    >>> with axes(None, polar=True) as ax:
    ...     ax.name
    'polar'
    """
    need_matplotlib()
    if ax is not None:
        if not callable(getattr(ax, "errorbar", None)):
            given: object = ax
            remedy = "pass plt.subplots()[1]"
            if isinstance(given, (str, Path)):
                remedy = 'write a file with est.plot().figure.savefig("ages.svg")'
            raise InputError(f"Expected ax as matplotlib axes, got {type(ax).__name__}; {remedy}.")
        if ax.figure is None:
            raise InputError("Expected ax as axes of a figure, got axes that were removed; pass plt.subplots()[1].")
        if ax.name != ("polar" if polar else "rectilinear"):
            wanted = "polar axes for values on a circle" if polar else "axes that are not polar"
            made = 'plt.subplot(projection="polar")' if polar else "plt.subplot()"
            raise InputError(f"Expected ax as {wanted}, got {ax.name}; pass ax={made}.")
        with _style() if _is_ours(ax) else contextlib.nullcontext():
            yield ax
        return
    with _style():
        ax = _new_figure(size).add_subplot(projection="polar" if polar else None)
        yield ax


def panels(rows: int, columns: int, size: tuple[float, float], **options: Any) -> Figure:  # noqa: ANN401 (matplotlib's)
    """A new figure in our style with ``figure.axes`` in rows; ``options`` are those of ``Figure.subplots``."""
    need_matplotlib()
    with _style():
        figure = _new_figure(size)
        figure.subplots(rows, columns, **options)
        return figure


def describe(ax: Axes, words: str, *, title: str = "", notes: Sequence[str] = ()) -> Axes:
    """Give the axes a title, their content in words (alt text), and notes below, if the figure is ours alone."""
    if title:
        ax.set_title("\n".join(map(literal, _title_lines(ax, escaped(title)))))
    ax.set_label(escaped(f"{title}. {words}" if title else words))
    if notes and is_alone(ax):
        figure = cast("Figure", ax.figure)
        letters = int(_LETTERS * figure.get_figwidth() / WIDTH)
        lines = [literal(line) for note in notes for line in textwrap.wrap(escaped(note), letters)]
        figure.supxlabel("\n".join(lines), x=0.01, ha="left", **_NOTE)
        extra = len(lines) * _NOTE["fontsize"] * 1.2 / 72
        figure.set_size_inches(figure.get_figwidth(), figure.get_figheight() + extra)
    return ax


def as_svg(draw: Callable[[], Axes | Figure]) -> str:
    """The picture that ``draw()`` makes as SVG text: the same on every run, with its words, and nothing to load.

    The figure is made without pyplot, so that no window opens and nothing stays in memory.
    """
    figure = _figure_of(draw)
    buffer = io.StringIO()
    with _style(), _any_letters():
        figure.savefig(buffer, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    labels = [str(ax.get_label()) for ax in figure.axes]
    words = " ".join(label for label in labels if not label.startswith("<"))  # such as <colorbar>
    return _tidy(buffer.getvalue(), html.escape(words))


def svg_for_notebooks(draw: Callable[[], Axes]) -> str | None:
    """The picture as SVG text; None without matplotlib: a notebook then shows words alone."""
    try:
        return as_svg(draw)
    except MissingExtraError:
        return None


def as_file(draw: Callable[[], Axes | Figure], file: str | Path) -> bytes:
    """The picture that ``draw()`` makes in the format that the ending of ``file`` names: .svg, .png or .pdf."""
    path = check_ending(file)
    if path.suffix.lower() == ".svg":
        return f"{as_svg(draw)}\n".encode()
    buffer = io.BytesIO()
    figure, dates = _figure_of(draw), {"CreationDate": None} if path.suffix.lower() == ".pdf" else {}
    with _style(), _any_letters():
        figure.savefig(buffer, format=path.suffix[1:].lower(), metadata=dates)
    return buffer.getvalue()


def _figure_of(draw: Callable[[], Axes | Figure]) -> Figure:
    need_matplotlib()
    token = _alone.set(True)
    try:
        drawn = draw()
    finally:
        _alone.reset(token)
    return cast("Figure", getattr(drawn, "figure", drawn))


def _new_figure(size: tuple[float, float]) -> Figure:
    """A new figure, marked as ours; pyplot, which shows figures, knows it unless it is made for a file."""
    if _alone.get():
        from matplotlib.figure import Figure  # noqa: PLC0415 (optional, and slow to load)

        made = Figure(figsize=size)
    else:
        from matplotlib import pyplot as plt  # noqa: PLC0415

        made = plt.figure(figsize=size)
    made.set_label(_OURS)
    return made


def _is_ours(ax: Axes) -> bool:
    return cast("Figure", ax.figure).get_label() == _OURS


def is_alone(ax: Axes) -> bool:
    """Whether these axes are all of a figure that we made, so that words may stand around them."""
    others = [each for each in cast("Figure", ax.figure).axes if each is not ax and each.get_label() != "<colorbar>"]
    return _is_ours(ax) and not others


def literal(text: object) -> str:
    r"""A text that matplotlib draws letter by letter: a dollar sign in it begins no formula.

    >>> print(literal("$5 to $9"))
    \$5 to \$9
    """
    return escaped(text).replace("$", r"\$")


@contextlib.contextmanager
def _style() -> Iterator[None]:
    """Our style, in one thread at a time: matplotlib has one for all of them."""
    from matplotlib import style  # noqa: PLC0415

    with _ONE, style.context(STYLE, after_reset=True):
        yield


@contextlib.contextmanager
def _any_letters() -> Iterator[None]:
    """Draw names in any script: a browser has letters that our font lacks; elsewhere a box stands for them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
        yield


def _title_lines(ax: Axes, title: str) -> list[str]:
    """A title of ours in as many lines as it needs, for which the figure grows."""
    if not is_alone(ax):
        return [title]
    figure = cast("Figure", ax.figure)
    lines = textwrap.wrap(title, int(_TITLE * figure.get_figwidth() / WIDTH))
    figure.set_size_inches(figure.get_figwidth(), figure.get_figheight() + 0.18 * (len(lines) - 1))
    return lines


def _tidy(svg: str, words: str) -> str:
    """Keep the element alone, with its words, without ids that nothing refers to; a hundredth of a point is enough.

    matplotlib's ids are hashes of coordinates, which another processor may round differently; ours are numbers in order
    of appearance, behind a mark of all its words that keeps the ids of several pictures on one page apart.
    """
    svg = svg[svg.index("<svg ") :].rstrip()
    said = "\n".join([words, *re.findall(r">([^<]+)</text>", svg)])
    used, mark = set(re.findall(r"#([\w.-]+)", svg)), f"p{zlib.crc32(said.encode()):08x}"
    ours: dict[str, str] = {}

    def tag(found: re.Match[str]) -> str:
        text = re.sub(r' id="([^"]+)"', lambda each: each[0] if each[1] in used else "", found[0])
        for each in re.findall(r' id="([^"]+)"', text):
            ours.setdefault(each, f"{mark}-{len(ours)}")
        return _ATTRIBUTE.sub(lambda each: _LONG.sub(lambda x: f"{float(x[0]):.2f}", each[0].replace("\n", "")), text)

    svg = re.sub(r"<!--.*?-->|(?<=\n)\s+", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<[^>]*>", tag, svg)  # and no words between tags
    svg = re.sub(r"<[^>]*>", lambda each: _REFERENCE.sub(lambda at: at[1] + ours.get(at[2], at[2]), each[0]), svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{words}" style="max-width: 100%; height: auto" ', 1)
