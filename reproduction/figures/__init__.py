"""Panels and grids of figures, as the paper has them."""

from reproduction.figures.grid import Grid, Square, grid, subscripted
from reproduction.figures.panels import Line, Panel, panels

__all__ = ["Grid", "Line", "Panel", "Square", "grid", "panels", "subscripted"]
