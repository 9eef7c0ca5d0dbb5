"""Containers in, the same kind out."""

from bipartite.containers.batch import Batch, Nulls, is_scalar, null_error
from bipartite.containers.dispatch import open_batch
from bipartite.containers.labels import open_labels

__all__ = ["Batch", "Nulls", "is_scalar", "null_error", "open_batch", "open_labels"]
