"""``python -m reproduction``: the paper reproduced, and its data sets."""

import sys

from bipartite.cli import Program, main

LABORATORY = Program(
    "python -m reproduction",
    "The paper reproduced: its figures on real data, its data sets, and a verdict on every claim.",
    "reproduction.commands",
    {
        "run": "figures and verdicts",
        "render": "the report of tables that were measured before",
        "datasets": "public data sets: what is here, and fetching",
    },
)

if __name__ == "__main__":
    sys.exit(main(program=LABORATORY))
