"""Reading values from any container and returning reports in a container of the same kind.

Mechanisms read with ``open_values``; learning reads columns with the container classes, and files and frames are read
with :mod:`bipartite.domains.containers.series`.
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
