"""How many neighbours get the high weight: the paper's algorithms, exactly."""

from bipartite.design.anchor_choice import AnchorChoice
from bipartite.design.anchors_line import best_anchors_on_line
from bipartite.design.anchors_minimax import minimax_anchors_of_set
from bipartite.design.anchors_sets import best_anchors_of_set
from bipartite.design.line import algorithm_3, algorithm_3_as_printed, best_half_window, best_m, check_prior, safe_m
from bipartite.design.minimax_line import minimax_anchors_on_line
from bipartite.design.optimum import optimal_matrix
from bipartite.design.rows import RowDesign, algorithm_1, algorithm_2
from bipartite.design.sets import best_m_of_set, safe_m_of_set
from bipartite.design.statistics import statistical_half_window

__all__ = [
    "AnchorChoice",
    "RowDesign",
    "algorithm_1",
    "algorithm_2",
    "algorithm_3",
    "algorithm_3_as_printed",
    "best_anchors_of_set",
    "best_anchors_on_line",
    "best_half_window",
    "best_m",
    "best_m_of_set",
    "check_prior",
    "minimax_anchors_of_set",
    "minimax_anchors_on_line",
    "optimal_matrix",
    "safe_m",
    "safe_m_of_set",
    "statistical_half_window",
]
