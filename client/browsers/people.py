"""Count the reports of made-up people: ``python people.py DATABASE COUNT [QUESTION]``.

Everybody answers every question; or this one alone, and all of them send the same report, which no mechanism draws.
"""

# ruff: noqa: INP001 (a script beside those that run it)

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from bipartite.collect.store import Arrival, resume
from bipartite.collect.study import Question
from tests.collect.bags import drawn, text, values

database, count, *only = sys.argv[1:]


def reports(question: Question, people: int) -> list[Any]:
    """One report of each, where the first values of a domain are commoner than the last."""
    columns = []
    for seed, part in enumerate(question.parts):
        shares = np.linspace(2, 0.2, len(part.mechanism.domain)) ** 3
        columns.append(values(part.mechanism, drawn(part.mechanism, people, seed, shares / shares.sum())))
    if not question.is_record:
        return columns[0]
    names = [part.name for part in question.parts]
    return [dict(zip(names, each, strict=True)) for each in zip(*columns, strict=True)]


with resume(Path(database), None) as store:
    for asked in store.study.questions:
        if asked.name in only or not only:
            told = reports(asked, int(count)) if not only else reports(asked, 1) * int(count)
            number = store.numbers[asked.name]
            store.count([[Arrival(number, os.urandom(16), text(each)) for each in told]], datetime.now(UTC).date())
