import math
import pickle

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from bipartite import BRR, Items, Points, insecure_seed
from bipartite.domains.points import EARTH_RADIUS_KM
from bipartite.errors import DataError, DomainError, InputError, NotAValueError, NullError, OutsideDomainError

CITIES = {
    "Berlin": (52.52, 13.405),
    "Paris": (48.8566, 2.3522),
    "London": (51.5074, -0.1278),
    "Sydney": (-33.8688, 151.2093),
}
PLACES = Points(list(CITIES.values()), metric="haversine", labels=list(CITIES))


def haversine(a, b):
    """The textbook formula, in km."""
    (lat1, lon1), (lat2, lon2) = np.radians(a), np.radians(b)
    h = math.sin((lat2 - lat1) / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_RADIUS_KM * math.asin(min(1.0, math.sqrt(h)))


def built(rows, metric):
    """Points, unless some lie closer than can be told apart."""
    try:
        return Points(rows, metric=metric)
    except DomainError as error:
        assume("apart, got" not in str(error))
        raise


degrees = st.tuples(st.floats(-90, 90), st.floats(-180, 180))


@given(st.lists(degrees, min_size=2, max_size=6, unique=True))
def test_haversine_losses_are_great_circles_to_a_few_decimetres(rows):
    points = built(rows, "haversine")
    for x, a in enumerate(rows):
        for y, b in enumerate(rows):
            expected = haversine(a, b)
            # A chord rounded to 2^-25 of the radius; towards the antipode the sine flattens, and metres become km.
            tolerance = 0.0006 if expected < 15_000 else 5.0
            assert points.losses(x)[y] == pytest.approx(expected, abs=tolerance)


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=2, max_size=6, unique=True))
@example([(0.0, 1.0), (8.39310927719223e-11, 1.0)])  # far from the origin beside their width
@example([(0.0, 0.0), (0.0, 1.4449649714867384e-178)])
def test_plane_losses_are_distances(rows):
    array = np.array(rows)
    width = np.ptp(array, axis=0).max()
    for metric, norm in (("euclidean", np.hypot), ("manhattan", np.add)):  # hypot, because squares underflow
        points = built(rows, metric)
        for x in range(len(rows)):
            expected = norm(*np.abs(array - array[x]).T)
            rounded = 2 * 2.0**-points.bits  # at most half a step for each of four coordinates
            assert points.losses(x) == pytest.approx(expected, abs=width * 1e-7 + rounded)
            assert points.order.distances(x).max() < 2**53


def test_whole_coordinates_are_held_exactly():
    points = Points([[0, 0], [3, 4], [6, 8], [-3, -4]])
    assert points.losses(0).tolist() == [0, 5, 10, 5]
    assert points.losses(1).tolist() == [5, 0, 5, 10]
    assert points.bits > 0


def test_values_are_labels_or_row_numbers():
    assert PLACES.encode("Paris") == 1
    assert PLACES.decode(1) == PLACES[1] == "Paris"
    assert list(PLACES) == list(CITIES)
    assert "Paris" in PLACES
    assert "Rome" not in PLACES
    rows = Points(list(CITIES.values()), metric="haversine")
    assert rows.encode(2) == rows.decode(2) == 2
    assert rows.coordinates[2].tolist() == list(CITIES["London"])
    assert not rows.coordinates.flags.writeable
    assert rows != PLACES
    assert Points(list(CITIES.values()), metric="haversine", labels=list(CITIES)) == PLACES
    assert hash(PLACES) == hash(Points(list(CITIES.values()), metric="haversine", labels=list(CITIES)))


def test_labels_go_in_and_come_back_in_the_same_kind():
    mechanism = BRR(PLACES, 3, m=2)
    one = mechanism.privatize("Paris", rng=insecure_seed(1))
    assert one in CITIES
    names = ["Paris", "Berlin", "Sydney"]
    as_list = mechanism.privatize(names, rng=insecure_seed(1))
    assert as_list[0] == one
    assert mechanism.privatize(tuple(names), rng=insecure_seed(1)) == tuple(as_list)
    array = mechanism.privatize(np.array(names).reshape(1, 3), rng=insecure_seed(1))
    assert array.shape == (1, 3)
    assert array.ravel().tolist() == as_list
    kept = mechanism.privatize(["Paris", None], nulls="keep")
    assert kept[1] is None
    assert mechanism.privatize(np.array(["Paris", None], dtype=object), nulls="keep")[1] is None
    numbered = Points([[0], [1], [5]], labels=[10, 20, 30])
    assert all(report in {10, 20, 30} for report in BRR(numbered, 1).privatize([10, 20]))


def test_labels_that_are_wrong_name_positions_and_no_label():
    mechanism = BRR(PLACES, 1, m=2)
    with pytest.raises(OutsideDomainError, match="'Rome' is not one of the labels; use domain.labels to see them"):
        mechanism.privatize("Rome")
    for values in (["Paris", "Rome"], np.array(["Paris", "Rome"]), ["Paris", 5.5], ["Paris", ["Rome"]]):
        with pytest.raises(OutsideDomainError) as caught:
            mechanism.privatize(values)
        assert "1 of 2 values cannot be reported: values[1] is not one of the labels" in str(caught.value)
        assert "Rome" not in str(caught.value)
    with pytest.raises(NullError, match="1 of 2 values are missing, the first at values\\[1\\]"):
        mechanism.privatize(["Paris", None])
    with pytest.raises(InputError, match="Expected labels as one label, a list, a NumPy array, .* got set"):
        mechanism.privatize({"Paris"})


def test_a_position_is_no_value_and_the_error_names_nearest():
    mechanism = BRR(Points(list(CITIES.values()), metric="haversine"), 1, m=2)
    for values in ([52.5, 13.4], np.array([[52.5, 13.4]])):
        with pytest.raises(DataError, match="values are row numbers, use domain.nearest to report positions"):
            mechanism.privatize(values)
    with pytest.raises(NotAValueError, match="1.5 is not a row number in 0..3; use domain.nearest"):
        mechanism.privatize(1.5)
    for value in (1, [1], np.array([1])):
        with pytest.raises(InputError, match="outside='clip' has no meaning on a set; use domain.nearest"):
            mechanism.privatize(value, outside="clip")


def test_nearest_finds_the_nearest_point_or_refuses():
    assert PLACES.nearest([[50.0, 3.0], [-30.0, 150.0]]) == ["Paris", "Sydney"]
    rows = Points([[0, 0], [10, 0], [0, 10]])
    assert rows.nearest([[1, 1], [9, 2], [2, 9]]).tolist() == [0, 1, 2]
    assert Points([[0, 0], [3, 3]], metric="manhattan").nearest([[2, 2]]).tolist() == [1]
    assert len(rows.nearest(np.zeros((0, 2)))) == 0
    with pytest.raises(InputError, match="position 1 is farther than 2 from every point; widen max_distance"):
        rows.nearest([[1, 1], [5, 5]], max_distance=2)
    with pytest.raises(InputError, match="Expected positions of 2 coordinates, got 3"):
        rows.nearest([[1, 1, 1]])
    with pytest.raises(InputError, match="Expected finite coordinates"):
        rows.nearest([[math.nan, 1]])
    with pytest.raises(InputError, match="Expected latitudes in ±90 and longitudes in ±180 degrees"):
        PLACES.nearest([[151.2, -33.9]])
    for limit in (math.nan, -1, "3"):
        with pytest.raises(InputError, match="Expected max_distance ≥ 0, got"):
            rows.nearest([[1, 1]], max_distance=limit)
    with pytest.raises(InputError, match="Expected coordinates below 2\\^500"):
        rows.nearest([[1e300, 0]])
    with pytest.raises(InputError, match="nearest needs a built-in metric"):
        Points([[0, 0], [1, 1]], metric=lambda a, b: abs(a - b).sum()).nearest([[0, 0]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 0]],), "Expected at least 2 rows of coordinates, got shape \\(1, 2\\)"),
        (([1, 2, 3],), "Expected at least 2 rows of coordinates, got shape \\(3,\\)"),
        ((["a", "b"],), "Expected coordinates as numbers, one row per point"),
        ((np.ma.masked_array([[0, 0], [1, 1]], mask=True),), "Expected coordinates as numbers, one row per point"),
        (([[0, 1j], [1, 1]],), "Expected coordinates as numbers, one row per point"),
        (([[1.7e308], [-1.7e308], [0.0]],), "Expected coordinates below 2\\^500 in size; rescale them"),
        (([[0.0, 0], [5.0, 0], [1e9, 0]],), "Expected points at least 2\\^4 apart, got 1 that are not; merge them"),
        (([[5e-324], [1e-323], [3e-323]], "manhattan"), "Expected points at least 2\\^-900 apart"),
        (([[90, 0], [90, 45]], "haversine"), "Expected points at least about 0.2 m apart, got 1 that are not"),
        (([[0, 180], [0, -180]], "haversine"), "Expected points at least about 0.2 m apart"),
        (([[0, 0], [1, 1]], lambda *_: None), "Expected a metric with finite values"),
        (([[0, math.inf], [1, 1]],), "Expected finite coordinates, got NaN or infinity; remove those points"),
        (([[0, 0], [1, 1], [0, 0]],), "Expected distinct points, got 1 duplicates; remove them"),
        (
            ([[0, 0], [1, 1]], "cosine"),
            "Expected metric='euclidean', 'manhattan', 'haversine' or a function, got 'cosine'",
        ),
        (
            ([[0, 0, 0], [1, 1, 1]], "haversine"),
            "Expected rows \\(latitude, longitude\\) with haversine, got 3 columns",
        ),
        (
            ([[0, 0], [100, 20]], "haversine"),
            "Expected latitudes in ±90 and longitudes in ±180 degrees; are the columns swapped",
        ),
        (
            ([[0, 0], [1, 1]], lambda *_: math.nan),
            "Expected a metric with finite values, smallest from a point to itself",
        ),
        (
            ([[0, 0], [1, 1]], lambda a, b: -abs(a - b).sum()),
            "Expected a metric with finite values, smallest from a point",
        ),
    ],
)
def test_points_that_cannot_be_are_refused(arguments, message):
    with pytest.raises(DomainError, match=message):
        Points(*arguments)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a"], "Expected 2 labels, one per value, got 1"),
        (["a", "a"], "Expected distinct labels, got 1 duplicates; rename them"),
        (["a", 1], "Expected labels that are all strings or all whole numbers; convert them with str"),
        ([1.5, 2.5], "Expected labels that are all strings or all whole numbers"),
        ([True, False], "Expected labels that are all strings or all whole numbers"),
        (5, "Expected labels as a list, one per value, got int"),
        ("ab", "Expected labels as a list, one per value, got str"),
        ({"a", "b"}, "Expected labels as a list, one per value, got set"),
        (["a", "\ud800"], "Expected labels that JSON can carry"),
        ([1, 2**53], "Expected labels that JSON can carry"),
    ],
)
def test_labels_are_distinct_names(labels, message):
    with pytest.raises(DomainError, match=message):
        Points([[0, 0], [1, 1]], labels=labels)
    with pytest.raises(DomainError, match=message):
        Items(labels, loss=[[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "Expected at least two labels, or loss= or similarity=; labels alone are flat categories"),
        ({"loss": [[0, 1], [1, 0]], "similarity": [[1, 0], [0, 1]]}, "Expected loss= or similarity=, got both"),
        (
            {"loss": [[0, 1, 2], [1, 0, 2]]},
            "Expected loss as a square matrix of at least two rows, got shape \\(2, 3\\)",
        ),
        ({"loss": "near"}, "Expected loss as a square matrix of numbers"),
        ({"similarity": [[1, math.nan], [0, 1]]}, "Expected similarity without NaN or infinity"),
        ({"loss": [[0, 1], [1, 2]]}, "got 1 rows whose best is elsewhere, the first row 1; check the matrix"),
        ({"similarity": [[0, 1], [0, 1]]}, "got 1 rows whose best is elsewhere, the first row 0"),
    ],
)
def test_items_that_cannot_be_are_refused(settings, message):
    with pytest.raises(DomainError, match=message):
        Items(None, **settings)


def test_labels_alone_are_flat_categories():
    flat = Items(["a", "b", "c"])
    assert flat == Items(["a", "b", "c"], loss=[[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    assert [flat.losses(x).tolist() for x in range(3)] == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert Items(iter("abc")) == flat
    for labels in (["a"], []):
        with pytest.raises(DomainError, match="at least two labels"):
            Items(labels)
    with pytest.raises(DomainError, match="got 1 duplicates"):
        Items(["a", "a"])


def test_a_best_report_elsewhere_is_allowed_when_asked_for():
    items = Items(["a", "b", "c"], loss=[[2, 1, 3], [1, 0, 5], [4, 2, 0]], allow_off_diagonal=True)
    assert np.flatnonzero(BRR(items, 1, m=1).lottery.near(0)).tolist() == [1]


def test_tanimoto_is_the_papers_similarity():
    items = Items.tanimoto([1, 2, 4], labels=["one", "two", "four"])
    assert items.losses(0).tolist() == pytest.approx([-1, -2 / (1 + 4 - 2), -4 / (1 + 16 - 4)])
    sets = Items.tanimoto([[1, 1, 0], [0, 1, 1], [1, 1, 1]])
    assert sets.losses(0).tolist() == pytest.approx([-1, -1 / 3, -2 / 3])
    with pytest.raises(DomainError, match="Expected non-zero vectors"):
        Items.tanimoto([0, 0])
    assert Items.tanimoto([1e200, 2e200, 3e200]).losses(0) == pytest.approx(Items.tanimoto([1, 2, 3]).losses(0))
    for vectors in (["a", "b"], [[1, 2], [3]], [1.0, math.nan]):
        with pytest.raises(DomainError, match="Expected vectors as finite numbers, one row per item"):
            Items.tanimoto(vectors)
    near = np.array([0.3944117962592072, 0.22556556763616642, 0.2918128920781222])
    assert len(Items.tanimoto([near, near * (1 + 4e-16)])) == 2


def test_items_of_a_spec_have_an_order_and_no_losses():
    from bipartite import from_spec
    from bipartite.quality import loss as loss_of

    mechanism = BRR(Items(["a", "b", "c"], loss=[[0, 1, 3], [1, 0, 5], [4, 2, 0]]), 1)
    reread = from_spec(mechanism.to_spec())
    assert reread == mechanism
    assert reread.privatize(["a", "b"], rng=insecure_seed(3)) == mechanism.privatize(["a", "b"], rng=insecure_seed(3))
    with pytest.raises(DomainError, match="which carries only ranks; build them with loss="):
        _ = loss_of(reread).mean


def test_sets_describe_themselves_briefly():
    assert repr(PLACES) == "<4 points, haversine>"
    assert repr(Items(None, loss=[[0, 1], [1, 0]])) == "<2 items>"
    assert "4 points" in repr(BRR(PLACES, 1))


def test_points_and_items_cannot_be_moved_after_they_are_built():
    rows, matrix = np.array([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])
    points, items = Points(rows), Items(None, loss=matrix)
    rows[0] = 99
    matrix[0] = 99
    assert points.losses(0)[0] == items.losses(0)[0] == 0
    twin, others = pickle.loads(pickle.dumps(points)), pickle.loads(pickle.dumps(items))
    for array in (
        points.coordinates, points.order.vectors, items.order.ranks, items.losses(0),
        twin.coordinates, twin.order.vectors, others.order.ranks, others.losses(0),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7


@pytest.mark.parametrize("value", [True, 1.0, np.float64(1), np.bool_(1)])
def test_what_equals_a_label_without_being_one_is_refused_everywhere(value):
    mechanism = BRR(Items([1, 2, 7], loss=1 - np.eye(3)), 1, m=1)
    for values in (value, [value], np.array([value])):
        with pytest.raises((DataError, InputError)):
            mechanism.privatize(values)
    assert mechanism.privatize(np.int64(1)) in {1, 2, 7}
    assert set(mechanism.privatize(list(np.array([1, 2])))) <= {1, 2, 7}
    with pytest.raises(InputError, match="outside='clip' has no meaning on a set"):
        mechanism.privatize(["unknown"], outside="clip")


def test_coordinates_may_lie_column_by_column_in_memory():
    x, y = np.random.default_rng(1).random((2, 3000))
    domain = Points(np.array([x, y]).T)
    assert domain.order.vectors.flags.c_contiguous
    assert BRR(domain, 1).m > 1
