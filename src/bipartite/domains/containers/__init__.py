"""Containers in, the same kind out."""

from bipartite.domains.containers.batch import Batch, Nulls, is_scalar, null_error
from bipartite.domains.containers.dispatch import open_batch
from bipartite.domains.containers.labels import open_labels

__all__ = ["Batch", "Nulls", "is_scalar", "null_error", "open_batch", "open_labels"]
