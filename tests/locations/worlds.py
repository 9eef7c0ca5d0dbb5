"""Small worlds of places and regions, for tests that hold for all of them."""

import os
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from bipartite import Points
from reproduction.places import Regions


def authors_coordinates():
    """The 1000 places of the paper's own experiment, for tests that are marked ``data``."""
    return np.loadtxt(Path(os.environ["BIPARTITE_DATA"]) / "gowalla_authors_1000.txt", delimiter=",")


def authors_places():
    """The same places as a domain."""
    return Points(authors_coordinates(), metric="haversine")


def in_regions(domain, labels):
    """Places with the region of each by its name."""
    names, numbers = np.unique(labels, return_inverse=True)
    return Regions(domain, numbers, tuple(map(str, names)))


@st.composite
def places(draw, least=4, most=24):
    rows = draw(
        st.lists(st.tuples(st.integers(-80, 80), st.integers(-170, 170)), min_size=least, max_size=most, unique=True)
    )
    return Points(np.array(rows, dtype=float), metric="haversine")


@st.composite
def worlds(draw, least=2, most=24):
    """Regions of places: ``least`` or more of them."""
    domain = draw(places(least=2 * least, most=most))
    count = draw(st.integers(least, len(domain) // 2))
    labels = [*range(count), *range(count)]
    labels += draw(
        st.lists(st.integers(0, count - 1), min_size=len(domain) - len(labels), max_size=len(domain) - len(labels))
    )
    return in_regions(domain, draw(st.permutations(labels)))


def six_cities(folder):
    """A file of places with their regions."""
    path = folder / "places.csv"
    path.write_text(
        "lat,lon,label,side\n52.52,13.4,Berlin,east\n48.86,2.35,Paris,west\n51.51,-0.13,London,west\n"
        "41.9,12.5,Rome,east\n40.4,-3.7,Madrid,west\n59.9,10.7,Oslo,east\n",
        encoding="utf-8",
    )
    return path
