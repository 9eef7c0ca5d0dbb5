"""Numbers that the paper prints, which runs are compared with: each once, and without what measuring them needs."""

from typing import Final

BOOSTING_SHARES: Final = {"bias-slope": 0.66, "abalone": 0.45, "superconduct": 0.67}
"""RMSE with BRR as a share of that with Laplace at ε = 5 (appendix B.1)."""
SGD_BUDGETS: Final = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
SGD_AHEAD: Final = {0.3: 0.28, 0.5: 0.21, 0.7: 0.12}
"""By how much BRR-SGD is ahead of Laplace DP-SGD, in accuracy, by ε (appendix B.2)."""
NETWORK_RANGE: Final = (0.25, 3.5)
"""The budgets of the networks' figure, from and to."""
NETWORK_GAINS: Final = {"mean": 0.0322, "at 0.25": 0.0529}
"""Accuracy of BRR above Laplace on Adult: on average over them, and at the least (appendix B.3)."""
RATIO_AT_2: Final = 0.5
"""About the expected error of BRR over that of GRR at ε = 2, as N tends to infinity (section 5.1)."""
REGIONS: Final = {"Gowalla": (13, 7, 235), "FourSquare": (14, 64, 278)}
"""Regions of both sets of places, and how many places the smallest and the largest have (Fig. 7)."""
PLACES_MEAN: Final = {"Gowalla": 0.087, "FourSquare": 0.067}
"""How far the expected error of BRR lies below that of L-SRR, as a share of it, on average over ε (section 5.3)."""
PLACES_MOST: Final = {"Gowalla": (2.0, 0.234), "FourSquare": (0.25, 0.143)}
"""The same at one ε."""
USER_SECONDS: Final = 0.03
"""Of one report (appendix B.4)."""
SERVER: Final = (3000, 4.0)
"""Users and seconds of the server with BRR on FourSquare (appendix B.4)."""
