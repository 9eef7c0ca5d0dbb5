"""A map to look around on: one HTML file that needs nothing else, no network either."""

from bipartite.locations.pages.writing import page

__all__ = ["page"]
