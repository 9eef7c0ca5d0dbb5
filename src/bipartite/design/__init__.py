"""How many neighbours get the high weight: the paper's algorithms, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bipartite.lazily import lazily

if TYPE_CHECKING:
    from bipartite.design.anchor_choice import AnchorChoice as AnchorChoice
    from bipartite.design.anchors_line import best_anchors_on_line as best_anchors_on_line
    from bipartite.design.anchors_minimax import minimax_anchors_of_set as minimax_anchors_of_set
    from bipartite.design.anchors_sets import best_anchors_of_set as best_anchors_of_set
    from bipartite.design.line import algorithm_3 as algorithm_3
    from bipartite.design.line import algorithm_3_as_printed as algorithm_3_as_printed
    from bipartite.design.line import best_half_window as best_half_window
    from bipartite.design.line import best_m as best_m
    from bipartite.design.line import check_prior as check_prior
    from bipartite.design.line import safe_m as safe_m
    from bipartite.design.minimax_line import minimax_anchors_on_line as minimax_anchors_on_line
    from bipartite.design.optimum import optimal_matrix as optimal_matrix
    from bipartite.design.rows import RowDesign as RowDesign
    from bipartite.design.rows import algorithm_1 as algorithm_1
    from bipartite.design.rows import algorithm_2 as algorithm_2
    from bipartite.design.sets import best_m_of_set as best_m_of_set
    from bipartite.design.sets import safe_m_of_set as safe_m_of_set
    from bipartite.design.statistics import statistical_half_window as statistical_half_window

# Each name and the module that holds it.
_HOMES = {
    "AnchorChoice": "bipartite.design.anchor_choice",
    "RowDesign": "bipartite.design.rows",
    "algorithm_1": "bipartite.design.rows",
    "algorithm_2": "bipartite.design.rows",
    "algorithm_3": "bipartite.design.line",
    "algorithm_3_as_printed": "bipartite.design.line",
    "best_anchors_of_set": "bipartite.design.anchors_sets",
    "best_anchors_on_line": "bipartite.design.anchors_line",
    "best_half_window": "bipartite.design.line",
    "best_m": "bipartite.design.line",
    "best_m_of_set": "bipartite.design.sets",
    "check_prior": "bipartite.design.line",
    "minimax_anchors_of_set": "bipartite.design.anchors_minimax",
    "minimax_anchors_on_line": "bipartite.design.minimax_line",
    "optimal_matrix": "bipartite.design.optimum",
    "safe_m": "bipartite.design.line",
    "safe_m_of_set": "bipartite.design.sets",
    "statistical_half_window": "bipartite.design.statistics",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
__all__ = [*_HOMES]  # noqa: PLE0604 (names, kept in one place)
