"""Hypothesis strategies for points and items."""

import numpy as np
from hypothesis import strategies as st

from bipartite import Items, Points

small_whole = st.integers(-5, 5)


@st.composite
def points(draw, most=12):
    """Small sets of points with many equal distances, in any metric."""
    metric = draw(st.sampled_from(["euclidean", "manhattan", "haversine", "function"]))
    if metric == "haversine":
        row = st.tuples(st.integers(-80, 80), st.integers(-170, 170))
    else:
        row = st.tuples(*[small_whole] * draw(st.integers(1, 3)))
    rows = draw(st.lists(row, min_size=2, max_size=most, unique=True))
    scale = 1.0 if metric == "haversine" else draw(st.sampled_from([1.0, 0.1, 1e6, 1e-9]))
    if metric == "function":
        return Points(np.array(rows) * scale, metric=lambda a, b: float(np.abs(a - b).max()))
    return Points(np.array(rows) * scale, metric=metric)


@st.composite
def items(draw, most=10):
    """Any losses or similarities: ties, constant rows, asymmetric, negative."""
    size = draw(st.integers(2, most))
    number = draw(st.sampled_from([st.integers(-3, 3), st.floats(-100, 100), st.just(1)]))
    matrix = np.array(draw(st.lists(number, min_size=size * size, max_size=size * size)), dtype=float).reshape(size, size)
    np.fill_diagonal(matrix, matrix.min(axis=1) - draw(st.sampled_from([0.0, 1.0])))
    labels = draw(st.sampled_from([None, [f"item {at}" for at in range(size)]]))
    return Items(labels, loss=matrix) if draw(st.booleans()) else Items(labels, similarity=-matrix)


sets = st.one_of(points(), items())
