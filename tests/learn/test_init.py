"""The names of the room, with all libraries and without some of them."""

import subprocess
import sys

import pytest

TYPES = {"Guarantee", "RandomisedLabels", "TrainingPlan"}
# Not None in sys.modules, which libraries that ask whether torch was loaded take for torch.
HIDING = """
from importlib.machinery import PathFinder
def hide(names, find=PathFinder.find_spec):
    PathFinder.find_spec = lambda name, *where: None if name in names else find(name, *where)
"""


@pytest.mark.parametrize(
    ("missing", "there", "gone"),
    [
        (["torch"], {"PrivateBoostingRegressor", "PrivateColumns", "PrivateNetwork"}, {"PrivateSGDClassifier"}),
        (["numba"], {"PrivateColumns"}, {"PrivateBoostingRegressor"}),
        (["sklearn", "torch"], set(), {"PrivateBoostingRegressor", "PrivateColumns", "PrivateNetwork", "Steps"}),
    ],
)
def test_a_star_imports_every_name_whose_libraries_are_here(missing, there, gone):
    code = f"{HIDING}\nhide({missing})\nfrom bipartite.learn import *\nprint(*globals())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    names = set(done.stdout.split())
    assert TYPES | there <= names
    assert not gone & names
