"""How far a single report is from its value."""

from bipartite.answers.quality.losses import Loss, loss

__all__ = ["Loss", "loss"]
