"""The one reader of values: containers in, the same kind out.

``open_values`` is how mechanisms read (one container, one domain, the way back); the classes beside it are
how tables for learning read their columns, and :mod:`bipartite.domains.containers.arrow` is how files and frames do.
"""

from bipartite.domains.containers.batch import Batch, is_scalar, library_of, open_values
from bipartite.domains.containers.cells import Cells, Container, Nulls, null_error

__all__ = [
    "Batch",
    "Cells",
    "Container",
    "Nulls",
    "is_scalar",
    "library_of",
    "null_error",
    "open_values",
]
