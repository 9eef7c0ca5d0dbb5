"""The names of the room, with all libraries and without some of them."""

import subprocess
import sys

import pytest

ALWAYS = {"Guarantee"}
# Not None in sys.modules, which libraries that ask whether torch was loaded take for torch.
HIDING = """
from importlib.machinery import PathFinder
def hide(names, find=PathFinder.find_spec):
    PathFinder.find_spec = lambda name, *where: None if name in names else find(name, *where)
"""


# Without numba, gradients are computed all the same.
ROWS = """
import torch
rows = PerExample(torch.nn.Linear(2, 2), torch.nn.functional.cross_entropy)
assert next(rows.blocks(torch.zeros(3, 2), torch.zeros(3, dtype=torch.long))).shape == (3, 6)
"""


@pytest.mark.parametrize(
    ("missing", "there", "gone", "then"),
    [
        pytest.param(
            ["torch"],
            {"PrivateBoostingRegressor", "PrivateColumns", "PrivateLabels"},
            {"PrivateSGDClassifier"},
            "",
            marks=pytest.mark.slow,
        ),
        pytest.param(["numba"], {"PrivateColumns"}, {"PrivateBoostingRegressor"}, ROWS, marks=pytest.mark.slow),
        (["sklearn", "torch"], set(), {"PrivateBoostingRegressor", "PrivateColumns", "PrivateLabels", "Steps"}, ""),
    ],
    ids=["no torch", "no numba", "no scikit-learn"],
)
def test_a_star_imports_every_name_whose_libraries_are_here(missing, there, gone, then):
    code = f"{HIDING}\nhide({missing})\nfrom bipartite.learn import *\nprint(*globals())\n{then}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    names = set(done.stdout.split())
    assert ALWAYS | there <= names
    assert not gone & names
