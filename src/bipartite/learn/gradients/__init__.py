"""SGD on private data: gradients of single people, bounded, summed and noised.

=======================  =========================================================================================
``exact_numbers.py``     arithmetic whose result no order of computing can change
``operations.py``        the operations of torch that are known to be such, or are replaced by such
``replacements.py``      what replaces them: sums, convolutions, pools, look-ups
``per_example.py``       the gradient of every person, by these operations alone
``whole.py``             clipping to whole numbers, so that the bound on one person's share is exact
``accounting.py``        noise for an (ε, δ), and (ε, δ) for a noise
``central.py``           GaussianSGD: a trusted curator adds noise to the sum
``loop.py``              the loop of training
``progress.py``          how far training is, on a terminal
``classifier.py``        the loop as a scikit-learn classifier
``networks.py``          a network for pictures, and settings to train it with
=======================  =========================================================================================
"""

from __future__ import annotations

from bipartite.errors import missing_library

try:
    import torch as torch
except ImportError:
    raise missing_library(what="Learning by gradients needs", library="torch", extra="learn") from None
