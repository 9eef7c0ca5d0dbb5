"""Algorithms that choose m and the anchors; implemented in :mod:`bipartite.mechanisms.design`."""

from typing import TYPE_CHECKING

from bipartite.lazily import lazily
from bipartite.mechanisms.design.anchors_line import AnchorChoice, best_anchors_on_line
from bipartite.mechanisms.design.anchors_sets import best_anchors_of_set
from bipartite.mechanisms.design.m import algorithm_3, best_half_window, best_m, check_prior, safe_m
from bipartite.mechanisms.design.m_for_statistics import statistical_half_window
from bipartite.mechanisms.design.m_of_sets import RowDesign, algorithm_1, algorithm_2, best_m_of_set, safe_m_of_set
from bipartite.mechanisms.design.minimax import LotteryChoice, minimax_lottery_of_set, minimax_lottery_on_line
from bipartite.mechanisms.design.optimum import optimal_matrix

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
