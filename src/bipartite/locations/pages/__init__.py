"""A map to look around on: one HTML file that needs nothing else, no network either."""

from bipartite.locations.pages.writing import MOST_ON_A_PAGE, page

__all__ = ["MOST_ON_A_PAGE", "page"]
