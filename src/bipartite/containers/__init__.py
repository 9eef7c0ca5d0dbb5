"""Containers in, the same kind out."""

from bipartite.containers.batch import Batch, Nulls, is_scalar, null_error
from bipartite.containers.dispatch import open_batch

__all__ = ["Batch", "Nulls", "is_scalar", "null_error", "open_batch"]
