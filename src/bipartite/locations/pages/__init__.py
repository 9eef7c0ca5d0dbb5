"""Interactive maps, each as one self-contained HTML file."""

from bipartite.locations.pages.writing import page

__all__ = ["page"]
