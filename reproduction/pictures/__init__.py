"""Pictures of the laboratory: small panels on common axes, and tables of squares."""

from reproduction.pictures.panels import Printed, panels
from reproduction.pictures.squares import Square, Squares, squares, subscripted

__all__ = ["Printed", "Square", "Squares", "panels", "squares", "subscripted"]
