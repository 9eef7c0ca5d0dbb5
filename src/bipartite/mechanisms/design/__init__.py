"""How many neighbours get the high weight: the paper's algorithms, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bipartite.lazily import lazily

if TYPE_CHECKING:
    from bipartite.mechanisms.design.anchor_choice import AnchorChoice as AnchorChoice
    from bipartite.mechanisms.design.anchors_line import best_anchors_on_line as best_anchors_on_line
    from bipartite.mechanisms.design.anchors_minimax import minimax_anchors_of_set as minimax_anchors_of_set
    from bipartite.mechanisms.design.anchors_sets import best_anchors_of_set as best_anchors_of_set
    from bipartite.mechanisms.design.line import algorithm_3 as algorithm_3
    from bipartite.mechanisms.design.line import best_half_window as best_half_window
    from bipartite.mechanisms.design.line import best_m as best_m
    from bipartite.mechanisms.design.line import check_prior as check_prior
    from bipartite.mechanisms.design.line import safe_m as safe_m
    from bipartite.mechanisms.design.lsrr import calibrated_rows as calibrated_rows
    from bipartite.mechanisms.design.minimax_line import minimax_anchors_on_line as minimax_anchors_on_line
    from bipartite.mechanisms.design.optimum import optimal_matrix as optimal_matrix
    from bipartite.mechanisms.design.rows import RowDesign as RowDesign
    from bipartite.mechanisms.design.rows import algorithm_1 as algorithm_1
    from bipartite.mechanisms.design.rows import algorithm_2 as algorithm_2
    from bipartite.mechanisms.design.sets import best_m_of_set as best_m_of_set
    from bipartite.mechanisms.design.sets import safe_m_of_set as safe_m_of_set
    from bipartite.mechanisms.design.statistics import statistical_half_window as statistical_half_window

# Each name and the module that holds it.
_HOMES = {
    "AnchorChoice": "bipartite.mechanisms.design.anchor_choice",
    "RowDesign": "bipartite.mechanisms.design.rows",
    "algorithm_1": "bipartite.mechanisms.design.rows",
    "algorithm_2": "bipartite.mechanisms.design.rows",
    "algorithm_3": "bipartite.mechanisms.design.line",
    "best_anchors_of_set": "bipartite.mechanisms.design.anchors_sets",
    "best_anchors_on_line": "bipartite.mechanisms.design.anchors_line",
    "best_half_window": "bipartite.mechanisms.design.line",
    "best_m": "bipartite.mechanisms.design.line",
    "best_m_of_set": "bipartite.mechanisms.design.sets",
    "calibrated_rows": "bipartite.mechanisms.design.lsrr",
    "check_prior": "bipartite.mechanisms.design.line",
    "minimax_anchors_of_set": "bipartite.mechanisms.design.anchors_minimax",
    "minimax_anchors_on_line": "bipartite.mechanisms.design.minimax_line",
    "optimal_matrix": "bipartite.mechanisms.design.optimum",
    "safe_m": "bipartite.mechanisms.design.line",
    "safe_m_of_set": "bipartite.mechanisms.design.sets",
    "statistical_half_window": "bipartite.mechanisms.design.statistics",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
__all__ = [*_HOMES]  # noqa: PLE0604 (names, kept in one place)
