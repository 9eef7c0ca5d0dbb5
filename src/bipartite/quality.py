"""The accuracy of a single report; implemented in :mod:`bipartite.answers.quality`."""

from typing import TYPE_CHECKING

from bipartite.answers.quality import Loss, loss
from bipartite.lazily import lazily

__all__ = ["Loss", "loss"]
if not TYPE_CHECKING:  # former names say what they are now
    __getattr__, __dir__ = lazily(__name__, {})
