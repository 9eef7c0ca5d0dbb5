"""What survey statisticians ask for first, from reports: public totals, contrasts, ratios, small groups.

Labels, weights and totals are public: never derive them from what people report about.
Begin reading: poststratification.py.
"""

from bipartite.answers.surveys.contrasts import contrasts
from bipartite.answers.surveys.poststratification import poststratify
from bipartite.answers.surveys.raking import rake, raking_weights
from bipartite.answers.surveys.ratios import ratio
from bipartite.answers.surveys.small_groups import small_groups

__all__ = [
    "contrasts",
    "poststratify",
    "rake",
    "raking_weights",
    "ratio",
    "small_groups",
]
