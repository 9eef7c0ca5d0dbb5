"""What survey statisticians ask for first, from reports: public totals, contrasts, ratios, small groups.

Labels, weights and totals are public: never derive them from what people report about.
Begin reading: poststratification.py.
"""

from bipartite.answers.surveys.poststratification import poststratify
from bipartite.answers.surveys.raking import rake, raking_weights

__all__ = [
    "poststratify",
    "rake",
    "raking_weights",
]
