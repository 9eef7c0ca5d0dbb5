"""The small public tables that ship with bipartite, with their licences."""

from bipartite.locations.atlas.places import Cities, cities, coasts

__all__ = ["Cities", "cities", "coasts"]
