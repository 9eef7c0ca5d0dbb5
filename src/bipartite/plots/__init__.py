"""One visual language for all pictures: SVG as text, from plain arrays, with no plotting library.

May import: mechanisms.
Begin reading: svg.py, line.py.
"""

from bipartite.plots import style
from bipartite.plots.bars import Bar, bars
from bipartite.plots.clock import chances_on_a_clock, shares_on_a_clock
from bipartite.plots.files import as_file, check_ending, png, save
from bipartite.plots.forest import forest
from bipartite.plots.grid import shares_of_pairs
from bipartite.plots.histogram import Band, Mark, histogram
from bipartite.plots.line import chances_on_a_line
from bipartite.plots.marks import beyond, mark
from bipartite.plots.palette import line_of, lines, mark_of
from bipartite.plots.shares import shares_by_name
from bipartite.plots.svg import LETTER, Picture, legend, path, picture, rule, tag, text, ticks, titled

__all__ = [
    "LETTER",
    "Band",
    "Bar",
    "Mark",
    "Picture",
    "as_file",
    "bars",
    "beyond",
    "chances_on_a_clock",
    "chances_on_a_line",
    "check_ending",
    "forest",
    "histogram",
    "legend",
    "line_of",
    "lines",
    "mark",
    "mark_of",
    "path",
    "picture",
    "png",
    "rule",
    "save",
    "shares_by_name",
    "shares_of_pairs",
    "shares_on_a_clock",
    "style",
    "tag",
    "text",
    "ticks",
    "titled",
]
