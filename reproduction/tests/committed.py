"""The committed run: its tables as they are judged and drawn."""

from functools import cache
from pathlib import Path

from reproduction.form import table_of

RESULTS = Path(__file__).parents[1] / "results"


@cache
def table(name):
    """The table of an experiment; nobody may change it."""
    return table_of((RESULTS / f"{name}.csv").read_text(encoding="utf-8"))
