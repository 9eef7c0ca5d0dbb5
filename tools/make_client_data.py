"""Makes two files of the client: what its demo page asks, and laws that its draws are tested against in browsers.

python tools/make_client_data.py
"""

from __future__ import annotations

import csv
import json
import math
from importlib import resources
from pathlib import Path

import bipartite as bp

CLIENT = Path(__file__).parents[1] / "client"
EPSILONS = ("0.5", "1", "2", "4")
WEST, EAST, SOUTH, NORTH = -11.0, 34.0, 35.5, 61.5
WIDTH = 560
TOWNS = {  # latitude and longitude, to a tenth of a degree
    "Amsterdam": (52.4, 4.9),
    "Athens": (38.0, 23.7),
    "Barcelona": (41.4, 2.2),
    "Belgrade": (44.8, 20.5),
    "Berlin": (52.5, 13.4),
    "Bucharest": (44.4, 26.1),
    "Budapest": (47.5, 19.1),
    "Copenhagen": (55.7, 12.6),
    "Dublin": (53.3, -6.3),
    "Edinburgh": (56.0, -3.2),
    "Helsinki": (60.2, 24.9),
    "Istanbul": (41.0, 29.0),
    "Kyiv": (50.5, 30.5),
    "Lisbon": (38.7, -9.1),
    "London": (51.5, -0.1),
    "Madrid": (40.4, -3.7),
    "Marseille": (43.3, 5.4),
    "Milan": (45.5, 9.2),
    "Munich": (48.1, 11.6),
    "Naples": (40.9, 14.3),
    "Oslo": (59.9, 10.8),
    "Paris": (48.9, 2.4),
    "Porto": (41.1, -8.6),
    "Prague": (50.1, 14.4),
    "Riga": (56.9, 24.1),
    "Rome": (41.9, 12.5),
    "Seville": (37.4, -6.0),
    "Sofia": (42.7, 23.3),
    "Stockholm": (59.3, 18.1),
    "Vienna": (48.2, 16.4),
    "Vilnius": (54.7, 25.3),
    "Warsaw": (52.2, 21.0),
}
WAYS = ("on foot", "by bicycle", "by bus", "by train", "by car", "I work at home")


def position(longitude: float, latitude: float) -> tuple[float, float]:
    """Where a place lies on the map, whose degrees are right in the middle of its latitudes."""
    scale = WIDTH / (EAST - WEST)
    return round((longitude - WEST) * scale, 1), round(
        (NORTH - latitude) * scale / math.cos(math.radians((SOUTH + NORTH) / 2)), 1
    )


def coasts() -> str:
    """The coasts that reach into the map, as the path of an SVG."""
    rings: dict[str, list[tuple[float, float]]] = {}
    with resources.files("bipartite.locations.atlas").joinpath("land.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rings.setdefault(row["ring"], []).append((float(row["longitude"]), float(row["latitude"])))
    inside = [ring for ring in rings.values() if any(WEST < x < EAST and SOUTH < y < NORTH for x, y in ring)]
    return "".join("M" + "L".join("{:g} {:g}".format(*position(*corner)) for corner in ring) + "Z" for ring in inside)


def text(mechanism: bp.Mechanism) -> str:
    """The spec of a mechanism as it travels."""
    return json.dumps(mechanism.to_spec(), separators=(",", ":"), ensure_ascii=False)


def towns() -> bp.Points:
    """The towns of the map."""
    return bp.Points(list(TOWNS.values()), metric="haversine", labels=list(TOWNS))


def demo() -> dict[str, object]:
    """All that the page is made from."""
    domains = {"age": bp.Integers(18, 90), "way": bp.Items(list(WAYS)), "town": towns()}
    kinds = {"age": bp.BRR, "way": bp.GRR, "town": bp.BRR}
    return {
        "epsilons": EPSILONS,
        "specs": {
            name: {epsilon: text(kinds[name](domain, epsilon)) for epsilon in EPSILONS}
            for name, domain in domains.items()
        },
        "ways": WAYS,
        "towns": [(name, *position(longitude, latitude)) for name, (latitude, longitude) in TOWNS.items()],
        "map": {"width": WIDTH, "height": math.ceil(position(EAST, SOUTH)[1]), "coasts": coasts()},
    }


def laws() -> list[dict[str, object]]:
    """The chance of every report of a value, as Python has it, and another value whose law a test must tell from it."""
    cases: list[tuple[bp.BRR | bp.GRR, list[int] | list[str], int | str, int | str]] = [
        (bp.BRR(bp.Integers(18, 90), "1"), list(range(18, 91)), 40, 41),
        (bp.BRR(bp.Integers(18, 90), "1", edges="padded", m=27), list(range(5, 104)), 40, 41),
        (bp.GRR(bp.Items(list(WAYS)), "0.5"), list(WAYS), WAYS[0], WAYS[1]),
        (bp.BRR(towns(), "2"), list(TOWNS), "Vienna", "Prague"),
    ]
    return [
        {
            "spec": text(mechanism),
            "value": value,
            "other": other,
            "reports": reports,
            "chances": mechanism.matrix()[_row(mechanism, value)].tolist(),
        }
        for mechanism, reports, value, other in cases
    ]


def _row(mechanism: bp.BRR | bp.GRR, value: float | str) -> int:
    labels = getattr(mechanism.domain, "labels", None)
    return labels.index(value) if labels else int(value) - 18


FILES = {"demo/data.json": demo, "browsers/laws.json": laws}

if __name__ == "__main__":
    for name, made in FILES.items():
        (CLIENT / name).write_text(json.dumps(made(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
