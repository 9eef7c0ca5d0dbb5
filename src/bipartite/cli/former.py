"""Commands and options of before 1.0, each with what takes its place."""

from __future__ import annotations

from typing import Final

_DESIGN: Final = "bipartite design DOMAIN --epsilon E"
_SPEC: Final = f"a spec; write one with: {_DESIGN} --output spec.json"
_DOMAINS: Final = {
    "--integers": "DOMAIN as in: bipartite design 18..90",
    "--interval": "DOMAIN as in: bipartite design 0..200000/401",
    "--cyclic": "DOMAIN as in: bipartite design cyclic:24",
    "--places": "DOMAIN as in: bipartite design shops.csv",
    "--items": "DOMAIN as in: bipartite design items.json",
    "--points": "DOMAIN as in: bipartite design 0..200000/401",
    "--rounding": "bp.Interval(…, rounding='random') in Python",
}
_OF_MECHANISMS: Final = dict.fromkeys(
    [*_DOMAINS, "--places-are-public", "--mechanism", "--m", "--edges", "--prior"], _SPEC
)

COMMANDS: Final = {
    "compare": f"{_DESIGN} --compare",
    "sample-size": f"{_DESIGN} --mean-within D",
    "report": "bipartite privatize - - --spec SPEC.json",
    "locations": "bipartite design shops.csv --epsilon E --for map, or bipartite estimate FILE --map heat.html",
    "datasets": "python -m reproduction datasets",
    "reproduce": "python -m reproduction run",
}
"""What to run in place of a command."""

FLAGS: Final[dict[str, dict[str, str]]] = {
    "design": {**_DOMAINS, "--spec": "the file as DOMAIN: bipartite design age.json", "--users": "--n N"},
    "verify": {"--spec": "the file alone: bipartite verify age.json", "--epsilon": _SPEC, **_OF_MECHANISMS},
    "audit": {"--spec": "the file alone: bipartite audit age.json --inputs X Y", **_OF_MECHANISMS},
    "estimate": {
        **_OF_MECHANISMS,
        "--epsilon": _SPEC,
        "--method": "bp.estimate(…, method=…) in Python",
        "--ranges": "--bins and --csv FILE",
        "--title": "est.plot(ax=…) in Python",
        "--unit": "est.plot(ax=…) in Python",
    },
    "plan": {"--people": "--n N"},
    "demo": {"--people": "--n N"},
}
"""What to use in place of an option, by command."""
