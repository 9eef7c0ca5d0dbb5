"""What a report is worth: what :mod:`bipartite.answers.quality` exports."""

from bipartite.answers.quality import *  # noqa: F403
from bipartite.answers.quality import __all__  # noqa: F401
