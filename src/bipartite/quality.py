"""The accuracy of a single report; implemented in :mod:`bipartite.answers.quality`."""

from bipartite.answers.quality import *  # noqa: F403
from bipartite.answers.quality import __all__  # noqa: F401
