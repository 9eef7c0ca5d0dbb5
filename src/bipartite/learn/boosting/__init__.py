"""Gradient boosting with differential privacy, one idea a module.

::

    grids        public cut points, records as bins
    compiled     histograms, gains, envelopes and descents as machine code
    splits       the exponential mechanism over all cuts of a node, exactly
    leaves       what is released of a leaf: a noisy sum and a noisy count
    trees        one complete tree, grown by choices that are drawn (or, in tests, enumerated)
    stages       how ε is divided over the mean and the trees, and their levels and leaves
    model        the mean and the trees, one after the other
    settings     the public parameters of an estimator, checked
    estimator    what regressor and classifier share: reading tables, scikit-learn's protocol
    regressor, classifier

The proof is in ``docs/private-boosting.md``.
"""

from __future__ import annotations

from importlib.util import find_spec

from bipartite.errors import missing_library

for _module, _library in {"sklearn": "scikit-learn", "numba": "numba"}.items():
    if find_spec(_module) is None:
        raise missing_library(what="Private boosting needs", library=_library, extra="boosting")
