"""The nearest point of many positions: the tree against all distances, ties and far positions included."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from bipartite import Points
from bipartite.domains import nearest
from bipartite.domains.points import unit_vectors
from bipartite.errors import InputError

small = st.integers(-6, 6)
pairs = st.tuples(small, small)


def by_all_distances(vectors, positions, kind):
    """In Python's own whole numbers: the least distance, and the first point that has it."""
    found = []
    for position in positions:
        apart = [[abs(int(a) - int(b)) for a, b in zip(vector, position, strict=True)] for vector in vectors]
        distances = [sum(row) if kind == "manhattan" else sum(each**2 for each in row) for row in apart]
        found.append((distances.index(min(distances)), min(distances)))
    return found


@given(
    st.lists(pairs, min_size=2, max_size=12, unique=True),
    st.lists(pairs, min_size=1, max_size=12),
    st.sampled_from(["squared", "manhattan"]),
    st.sampled_from([1, 2**19, 2**20 - 1]),
)
def test_the_tree_finds_what_all_distances_define_ties_to_the_first(points, positions, kind, scale):
    vectors, places = np.array(points) * scale, np.array(positions, dtype=float) * scale
    expected = by_all_distances(vectors, places, kind)
    for found in (
        nearest._search_tree(cKDTree(vectors.astype(float)), vectors, places, kind),
        nearest._search_all(vectors, places, kind),
    ):
        distances = nearest.distances_to(vectors, found, places, kind)
        assert list(zip(found.tolist(), distances.tolist(), strict=True)) == expected


@pytest.mark.parametrize("metric", ["haversine", "euclidean", "manhattan"])
def test_many_positions_take_the_tree_and_it_agrees_with_the_matrix(metric, monkeypatch):
    rng = np.random.default_rng(3)
    points = Points(np.unique(np.round(rng.uniform([-80, -170], [80, 170], (200, 2))), axis=0), metric=metric)
    positions = np.round(rng.uniform([-90, -180], [90, 180], (3000, 2)))  # whole degrees: many ties
    plain = points.nearest(positions)
    monkeypatch.setattr(nearest, "USE_TREE_FROM", 1)
    assert points.nearest(positions).tolist() == plain.tolist()
    monkeypatch.setattr(nearest, "_SORT_FROM", 1)
    assert points.nearest(positions).tolist() == plain.tolist()
    vectors = points.order.vectors
    scaled = unit_vectors(positions) if metric == "haversine" else np.rint(np.ldexp(positions, points.bits))
    expected = by_all_distances(vectors, scaled[:100], points.order.kind)
    assert plain[:100].tolist() == [number for number, _ in expected]


def test_positions_far_outside_the_plane_are_found_as_before(monkeypatch):
    points = Points([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    positions = np.array([[1e9, 1.0], [-1e12, 3.0], [0.9, 0.2]])
    plain = points.nearest(positions).tolist()
    monkeypatch.setattr(nearest, "USE_TREE_FROM", 1)
    assert points.nearest(positions).tolist() == plain == [1, 0, 1]


def test_far_positions_are_refused_dropped_or_reported_like_all_others():
    points = Points([[0, 0], [10, 0]])
    positions = [[1, 1], [50, 50], [9, 1]]
    with pytest.raises(InputError, match="1 of 3 cannot be reported: position 1 is farther than 2 from every point"):
        points.nearest(positions, 2)
    with pytest.raises(InputError, match="to refuse or drop publishes that it is far"):
        points.nearest(positions, 2, far="error")
    assert points.nearest(positions, 2, far="drop").tolist() == [0, 1]
    assert points.nearest(positions, 2, far="nearest").tolist() == [0, 1, 1]
    with pytest.raises(InputError, match="Expected far='error', 'drop' or 'nearest', got 'clip'"):
        points.nearest(positions, far="clip")


def test_a_refusal_shows_no_position():
    points = Points([[0.0, 0.0], [10.0, 0.0]], metric="haversine")
    with pytest.raises(InputError) as refusal:
        points.nearest([[41.4142, 2.1737]], 5)
    assert "41" not in str(refusal.value)
    with pytest.raises(InputError) as refusal:
        points.nearest([[141.4142, 2.1737]], 5)
    assert "141" not in str(refusal.value)
