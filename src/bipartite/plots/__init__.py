"""One visual language for all pictures, drawn by matplotlib on the axes of a user or on new ones.

May import: domains, mechanisms.
Begin reading: figure.py, shares.py.
"""

from bipartite.plots import style
from bipartite.plots.clock import chances_on_a_clock
from bipartite.plots.files import as_file, check_ending, png, save
from bipartite.plots.grid import shares_of_pairs
from bipartite.plots.line import chances_on_a_line
from bipartite.plots.marks import beyond, mark
from bipartite.plots.palette import line_of, lines, mark_of
from bipartite.plots.svg import LETTER, Picture, legend, path, picture, rule, tag, text, ticks, titled

__all__ = [
    "LETTER",
    "Picture",
    "as_file",
    "beyond",
    "chances_on_a_clock",
    "chances_on_a_line",
    "check_ending",
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
    "shares_of_pairs",
    "style",
    "tag",
    "text",
    "ticks",
    "titled",
]
