"""Columns of files and frames: a plan says what each column may become, and a release happens once.

Names are loaded on first use, because most need the extra ``tables`` (Arrow).
May import: lottery, domains, mechanisms, answers.
Begin reading: plan.py, releasing.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bipartite.lazily import lazily

if TYPE_CHECKING:
    from bipartite.tables.answering import estimate_file as estimate_file
    from bipartite.tables.columns import Column as Column
    from bipartite.tables.drawing import Release as Release
    from bipartite.tables.frames import privatize_frame as privatize_frame
    from bipartite.tables.plan import Plan as Plan
    from bipartite.tables.releasing import Released as Released
    from bipartite.tables.releasing import privatize_file as privatize_file

# Each public name and the module that defines it.
_HOME: dict[str, str] = {
    "Column": "bipartite.tables.columns",
    "Plan": "bipartite.tables.plan",
    "Release": "bipartite.tables.drawing",
    "Released": "bipartite.tables.releasing",
    "estimate_file": "bipartite.tables.answering",
    "privatize_file": "bipartite.tables.releasing",
    "privatize_frame": "bipartite.tables.frames",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazily(__name__, _HOME)
