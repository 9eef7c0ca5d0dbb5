"""Panels and grids of figures, as the paper has them."""

from reproduction.figures.grid import Grid, Square, grid, subscripted
from reproduction.figures.panels import Line, Panel, Printed, panels

__all__ = ["Grid", "Line", "Panel", "Printed", "Square", "grid", "panels", "subscripted"]
