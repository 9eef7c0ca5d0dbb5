"""Commands and options of before 1.0, each with what takes its place."""

from __future__ import annotations

from typing import Final

_DESIGN: Final = "bipartite design DOMAIN --epsilon E"
_DOMAINS: Final = {
    "--integers": "write the domain as in: bipartite design 18..90",
    "--interval": "write the domain as in: bipartite design 0..200000/401",
    "--cyclic": "write the domain as in: bipartite design cyclic:24",
    "--places": "write the domain as in: bipartite design shops.csv",
    "--items": "write the domain as in: bipartite design items.json",
    "--points": "write the domain as in: bipartite design 0..200000/401",
    "--rounding": "use bp.Interval(…, rounding='random') in Python",
}
_MECHANISMS: Final = dict.fromkeys(
    [*_DOMAINS, "--places-are-public", "--mechanism", "--m", "--edges", "--prior"],
    f"give a spec, which this writes: {_DESIGN} --output spec.json",
)
_WITH_EPSILON: Final = {**_MECHANISMS, "--epsilon": _MECHANISMS["--m"]}
_PEOPLE: Final = dict.fromkeys(("--people", "--users"), "use --n N")
_AFTERWARDS: Final = "let DuckDB or Arrow do it with the release, which spends nothing"

COMMANDS: Final = {
    "compare": f"{_DESIGN} --compare",
    "sample-size": f"{_DESIGN} --mean-within D, or --share-within D",
    "report": f"echo VALUE | bipartite privatize - - --spec spec.json, with the spec of {_DESIGN} --output spec.json",
    "locations": "bipartite design shops.csv --epsilon E --for map, or bipartite estimate FILE --map heat.html",
    "datasets": "python -m reproduction datasets",
    "reproduce": "python -m reproduction run",
}
"""What to run in place of a command."""

FLAGS: Final[dict[str, dict[str, str]]] = {
    "design": {
        **_DOMAINS,
        "--spec": "give the file as the domain: bipartite design age.json",
        **_PEOPLE,
        "--purpose": "use --for PURPOSE",
        "--population": "use --prior FILE",
        "--csv": "use --output FILE.csv",
        "--measure": "--plot draws what --for is about",
        "--dataset": "write the domain as in: bipartite design cities",
        "--box": "write the domain as in: bipartite design grid:52.3,13,52.7,13.8/10000",
        "--metres": "write the domain as in: bipartite design grid:52.3,13,52.7,13.8/10000",
        "--tolerance": "use bp.compare(…, tolerance=…) in Python",
        "--within": "use bp.compare(…, tolerance=…) in Python",
        "--exact": "use bp.compare(…, exact=True) in Python",
        "--merge": "use bp.locations.places(…, merge_within=…) in Python",
        "--at": "use bp.locations.plot(mech, at=…) in Python",
        "--title": "use bp.locations.plot(places, title=…) in Python",
    },
    "plan": _PEOPLE,
    "privatize": {
        **_WITH_EPSILON,
        "--nulls": "set lines without a value aside with --reject FILE",
        "--partition-by": _AFTERWARDS,
        "--compression": _AFTERWARDS,
        "--memory": "memory is bounded without it",
        "--threads": "the release uses what it needs",
    },
    "estimate": {
        **_WITH_EPSILON,
        "--method": "use bp.estimate(…, method=…) in Python",
        "--ranges": "use --bins EDGES with --csv FILE",
        "--title": "use est.plot(ax=…) in Python",
        "--unit": "use est.plot(ax=…) in Python",
        "--output": "use --map FILE",
        "--smoothing-km": "use bp.locations.heat_map(…, smoothing_km=…) in Python",
        "--credit": "use heat.plot(credit=…) in Python",
    },
    "verify": {**_WITH_EPSILON, "--spec": "give the file alone: bipartite verify age.json"},
    "audit": {**_MECHANISMS, "--spec": "give the file alone: bipartite audit age.json --inputs X Y"},
    "demo": {**_PEOPLE, "--json": "the commands that it runs have it: bipartite estimate out/reports.csv --json"},
}
"""What to do in place of an option, by command."""
