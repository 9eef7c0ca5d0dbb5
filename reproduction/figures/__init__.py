"""Panels and grids of figures, as the paper has them."""

from reproduction.figures.grid import Grid, Square, grid, subscripted
from reproduction.figures.lines import Line, Panel, Printed
from reproduction.figures.panels import panels

__all__ = ["Grid", "Line", "Panel", "Printed", "Square", "grid", "panels", "subscripted"]
