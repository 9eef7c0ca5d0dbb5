"""One visual language for all pictures: SVG as text, from plain arrays, with no plotting library."""

from bipartite.plots.bars import Bar, bars, paired_bars
from bipartite.plots.forest import Row, forest
from bipartite.plots.histogram import Mark, histogram
from bipartite.plots.line import chances_on_a_line, reports_on_a_line
from bipartite.plots.places import chances_on_a_map
from bipartite.plots.shares import shares_by_name
from bipartite.plots.svg import Picture

__all__ = [
    "Bar",
    "Mark",
    "Picture",
    "Row",
    "bars",
    "chances_on_a_line",
    "chances_on_a_map",
    "forest",
    "histogram",
    "paired_bars",
    "reports_on_a_line",
    "shares_by_name",
]
