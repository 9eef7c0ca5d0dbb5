"""The algorithms that choose m and anchors, by name: what :mod:`bipartite.mechanisms.design` exports."""

from bipartite.mechanisms.design import *  # noqa: F403
from bipartite.mechanisms.design import __all__  # noqa: F401
