"""The laboratory uses what everybody may use: what rooms of the library export."""

import ast
import importlib
from pathlib import Path

LABORATORY = Path(__file__).parents[1]
# Measures of single reports that were part of the library, and still compute with its losses; maps with its coasts;
# noise of the kind that the library adds to sums; trees that are the library's but for their gains and leaves; specs of
# places that the library once wrote, read and drawn from by its own code.
INSIDE = {
    "inference.py": {"bipartite.answers.quality.losses", "bipartite.domains.losses"},
    "quality.py": {"bipartite.answers.quality.losses", "bipartite.domains.losses"},
    "learning/boosting.py": {
        "bipartite.learn.boosting.compiled",
        "bipartite.learn.boosting.estimator",
        "bipartite.learn.boosting.leaves",
        "bipartite.learn.boosting.settings",
        "bipartite.learn.boosting.splits",
        "bipartite.learn.boosting.stages",
        "bipartite.learn.boosting.trees",
        "bipartite.lottery.uniform",
    },
    "learning/compiled_gains.py": {
        "bipartite.learn.boosting.compiled",
        "bipartite.lottery.caching",
        "bipartite.lottery.jit",
    },
    "learning/leaves.py": {"bipartite.learn.boosting.leaves", "bipartite.lottery.integer_noise"},
    "learning/sgd.py": {
        "bipartite.learn.gradients.central",
        "bipartite.learn.gradients.exact_numbers",
        "bipartite.learn.gradients.whole",
        "bipartite.lottery.integer_noise",
    },
    # Features that nobody else can change.
    "learning/scattering.py": {"bipartite.learn.gradients.exact_numbers", "bipartite.learn.scikit"},
    "places/maps.py": {"bipartite.locations.maps", "bipartite.locations.view"},
    "places/regions.py": {"bipartite.locations.candidates"},
    "places/in_regions.py": {"bipartite.lottery.table"},
    "places/lsrr.py": {"bipartite.lottery.budgets"},
    "places/planar.py": {"bipartite.domains.points"},
    "places/weaker.py": {"bipartite.lottery.deal", "bipartite.mechanisms.spec.fields"},
    "places/within_region.py": {
        "bipartite.lottery.deal",
        "bipartite.lottery.words",
        "bipartite.mechanisms.rows_of_places",
        "bipartite.mechanisms.spec.domains",
        "bipartite.mechanisms.spec.fields",
    },
    "local_bound.py": {
        "bipartite.domains.losses",
        "bipartite.mechanisms.checks",
        "bipartite.mechanisms.design.m_of_sets",
    },
}


# How pictures are drawn: modules of a room that exports no names of its own.
DRAWING = {"bipartite.plots.figure", "bipartite.plots.looks", "bipartite.plots.named"}


def imported():
    """(file, module, name) of everything that the laboratory imports from the library."""
    for path in LABORATORY.rglob("*.py"):
        name = path.relative_to(LABORATORY).as_posix()
        if name.startswith("tests/"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "bipartite":
                yield from ((name, node.module, each.name) for each in node.names)
            elif isinstance(node, ast.Import):
                yield from ((name, each.name, "") for each in node.names if each.name.startswith("bipartite"))


def is_drawing(module, name):
    return module in DRAWING or f"{module}.{name}" in DRAWING


def is_exported(module, name):
    if module.count(".") > 1:
        return False
    there = importlib.import_module(module)
    return name in getattr(there, "__all__", dir(there)) if name else True


def test_the_laboratory_imports_only_what_rooms_export():
    found = list(imported())
    assert len(found) > 50
    outside = [each for each in found if each[1] not in INSIDE.get(each[0], set()) and not is_drawing(*each[1:])]
    assert [each for each in outside if not is_exported(*each[1:])] == []


def test_no_more_is_allowed_than_is_imported():
    used = {(file, module) for file, module, _ in imported()}
    assert {(file, module) for file, modules in INSIDE.items() for module in modules} <= used
