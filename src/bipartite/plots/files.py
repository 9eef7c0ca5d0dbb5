"""Pictures as files: SVG as text, PNG through resvg (the extra ``png``)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bipartite.errors import InputError, missing_library, shown
from bipartite.files import write_atomically
from bipartite.plots.style import WIDTH

_ZOOM: Final = 2  # sharp on today's screens and in print


def png(svg: str, *, width: int = _ZOOM * WIDTH) -> bytes:
    """Convert a picture to PNG, ``width`` pixels wide, on white.

    Text uses the fonts of the system; without any font it is silently left out.
    """
    try:
        import resvg_py  # noqa: PLC0415 (optional, and needed for PNG alone)
    except ImportError:
        raise missing_library(
            what="A picture as .png (.svg needs nothing) needs", library="resvg-py", extra="png"
        ) from None
    return bytes(
        resvg_py.svg_to_bytes(svg_string=svg, width=width, background="white", sans_serif_family="DejaVu Sans")
    )


def save(svg: str, file: str | Path) -> None:
    """Write a picture in the format of the file's extension: ``.svg`` or ``.png``."""
    write_atomically(file, as_file(svg, Path(file)))


def as_file(svg: str, path: Path) -> str | bytes:
    """The contents of a picture file with this extension."""
    check_ending(path)
    return png(svg) if path.suffix.lower() == ".png" else svg + "\n"


def check_ending(path: Path) -> None:
    """Refuse a file name with any other extension."""
    if path.suffix.lower() not in {".svg", ".png"}:
        raise InputError(f"Expected a file name ending in .svg or .png, got {shown(path.name)}; rename it.")
