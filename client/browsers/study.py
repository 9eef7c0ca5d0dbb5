"""The participant's page of a study as one JSON text, for the browsers' tests: ``python study.py FILE``."""

# ruff: noqa: INP001, T201 (a script beside those that run it)

import json
import sys
from pathlib import Path

from bipartite.collect.pages import participant
from bipartite.collect.study import read_study

study = read_study(Path(sys.argv[1]))
pages = {name: participant(study, closed=name == "closed") for name in ("open", "closed")}
print(json.dumps({name: {"html": page.html.decode(), "headers": dict(page.headers)} for name, page in pages.items()}))
