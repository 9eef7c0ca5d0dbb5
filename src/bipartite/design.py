"""Algorithms that choose m and the anchors; implemented in :mod:`bipartite.mechanisms.design`."""

from typing import TYPE_CHECKING

from bipartite.lazily import lazily
from bipartite.mechanisms.design.anchor_choice import AnchorChoice, LotteryChoice
from bipartite.mechanisms.design.anchors_line import best_anchors_on_line
from bipartite.mechanisms.design.anchors_sets import best_anchors_of_set
from bipartite.mechanisms.design.line import algorithm_3, best_half_window, best_m, check_prior, safe_m
from bipartite.mechanisms.design.lottery_line import minimax_lottery_on_line
from bipartite.mechanisms.design.lottery_sets import minimax_lottery_of_set
from bipartite.mechanisms.design.optimum import optimal_matrix
from bipartite.mechanisms.design.rows import RowDesign, algorithm_1, algorithm_2
from bipartite.mechanisms.design.sets import best_m_of_set, safe_m_of_set
from bipartite.mechanisms.design.statistics import statistical_half_window

__all__ = [
    "AnchorChoice",
    "LotteryChoice",
    "RowDesign",
    "algorithm_1",
    "algorithm_2",
    "algorithm_3",
    "best_anchors_of_set",
    "best_anchors_on_line",
    "best_half_window",
    "best_m",
    "best_m_of_set",
    "check_prior",
    "minimax_lottery_of_set",
    "minimax_lottery_on_line",
    "optimal_matrix",
    "safe_m",
    "safe_m_of_set",
    "statistical_half_window",
]
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazily(__name__, {})
