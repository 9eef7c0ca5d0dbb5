"""SGD on private data: gradients of single people, bounded, and noised in sum.

=======================  =========================================================================================
``per_example.py``       the gradient of every person, in one of three ways:
``compiled_rows.py``     loops over one person's numbers (``compiled_kernels.py``), on a CPU
``exact_products.py``    matrix products in which no order matters (``exact_numbers.py``), on a GPU
``any_network.py``       torch's own gradients, for layers that ``layers.py`` does not know: not proved
``elementary.py``        constants that the first two share
``whole.py``             clipping to whole numbers, so that the bound on one person's share is exact
``accounting.py``        noise for an (ε, δ), and (ε, δ) for a noise
``central.py``           GaussianSGD: a trusted curator adds noise to the sum
``loop.py``              the loop
``progress.py``          how far training is, on a terminal
``classifier.py``        the loop as a scikit-learn classifier
``networks.py``          the network of the paper's experiment
=======================  =========================================================================================
"""

from __future__ import annotations

from bipartite.errors import missing_library

try:
    import torch as torch
except ImportError:
    raise missing_library(what="Learning by gradients needs", library="torch", extra="learn") from None
