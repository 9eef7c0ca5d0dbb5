"""Statistics for surveys; implemented in :mod:`bipartite.answers.surveys`."""

from bipartite.answers.surveys import *  # noqa: F403 (one list of names, kept there)
from bipartite.answers.surveys import __all__ as __all__  # noqa: PLC0414 (given out again)
