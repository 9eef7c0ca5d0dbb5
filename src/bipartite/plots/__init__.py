"""One visual language for all pictures: SVG as text, from plain arrays, with no plotting library."""

from bipartite.plots.bars import Bar, bars, paired_bars
from bipartite.plots.line import chances_on_a_line, reports_on_a_line
from bipartite.plots.places import chances_on_a_map

__all__ = ["Bar", "bars", "chances_on_a_line", "chances_on_a_map", "paired_bars", "reports_on_a_line"]
