"""How far a single report is from its value."""

from bipartite.answers.quality.loss import Loss, loss

__all__ = ["Loss", "loss"]
