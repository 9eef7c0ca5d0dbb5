"""Maps are read back from their axes: what stands where, in which colour, and what they say in words."""

import itertools
import sys
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure

from bipartite import BRR, GRR, OUE, Anchored, Exponential, Integers, Points, insecure_seed
from bipartite.errors import InputError, MissingExtraError, NotAValueError, OutsideDomainError
from bipartite.locations import cities, grid, heat_map, places, plot
from bipartite.locations.grids import squares_of
from bipartite.locations.maps import _kinds
from bipartite.locations.view import View, _degrees, write_names
from bipartite.plots.figure import as_svg
from bipartite.plots.looks import BLUE, INK, PALE
from bipartite.texts import percent

ROWS = [[52.52, 13.40], [48.86, 2.35], [51.51, -0.13], [41.9, 12.5], [40.4, -3.7], [59.9, 10.7]]
NAMES = ["Berlin", "Paris", "London", "Rome", "Madrid", "Oslo"]
EUROPE = places(ROWS, labels=NAMES)
SQUARE = grid((50, 0, 51, 1), metres=40_000)  # three rows of two
EVIL = '<img src=x>"&\x00 $\\frac$'


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def dots(ax):
    """The dots of a map: (positions, areas, colours)."""
    (found,) = [each for each in ax.collections if isinstance(each, PathCollection)]
    return np.asarray(found.get_offsets()), found.get_sizes(), found.get_facecolors()


def shapes(ax, **like):
    """The polygons of a collection with this z-order."""
    return [each for each in ax.collections if isinstance(each, PolyCollection) and each.get_zorder() == like["zorder"]]


def texts(ax):
    return [each.get_text() for each in ax.texts]


def notes(ax):
    return " ".join(ax.figure.get_supxlabel().split())


def heated(domain, values, epsilon=3):
    mechanism = GRR(domain, epsilon)
    return heat_map(mechanism, mechanism.privatize(values, rng=insecure_seed(1)))


# The view.


def test_a_view_keeps_the_shape_in_its_middle_and_all_places_inside():
    view = View.around(np.array(ROWS))
    middle = (59.9 + 40.4) / 2
    assert view.longitude_scale == pytest.approx(np.cos(np.radians(middle)), rel=1e-6)
    x = view.x(np.array(ROWS)[:, 1])
    assert (x > view.west).all() and (x < view.east).all() and view.south < 40.4 and view.north > 59.9
    ax = plot(EUROPE)
    assert ax.get_aspect() == pytest.approx(1 / view.longitude_scale)
    assert (*ax.get_xlim(), *ax.get_ylim()) == (view.west, view.east, view.south, view.north)


def test_places_on_both_sides_of_the_date_line_are_neighbours():
    pacific = np.array([[-18.1, 178.4], [-13.8, -171.8]])  # Fiji and Samoa
    view = View.around(pacific)
    fiji, samoa = view.x(pacific[:, 1])
    assert samoa - fiji == pytest.approx(9.8) and view.east - view.west < 20
    assert _degrees("EW", samoa) == "171.8° W" and _degrees("EW", fiji) == "178.4° E"
    assert [_degrees("NS", each) for each in (-10, 0, 52.5)] == ["10° S", "0°", "52.5° N"]


@pytest.mark.parametrize(
    "rows", [[[10.0, 20.0], [10.0, 20.0]], [[90.0, 0.0], [-90.0, 180.0]], [[89.9, -180.0], [89.8, 180.0]]]
)
def test_one_place_and_the_poles_still_have_a_view(rows):
    view = View.around(np.array(rows))
    assert np.isfinite(view.x(np.array(rows)[:, 1])).all() and -90 <= view.south < view.north <= 90
    wide, tall = view.size(0)
    assert 0.2 * wide < tall < 1.2 * wide and 0 < view.east - view.west <= 360


def test_a_grid_around_the_whole_globe_is_seen_as_a_whole():
    domain = grid((60, -180, 80, 180), metres=700_000)
    view = View.of(domain, squares_of(domain))
    assert (view.west, view.east) == pytest.approx((-180, 180))
    left = view.x(squares_of(domain).boxes[:, 1])
    assert left.min() == pytest.approx(-180) and left.max() < 180 - 1


def test_coasts_are_drawn_where_they_are_seen_and_not_in_a_town():
    country = plot(places([[38.0, -78.0], [43.0, -70.0]]))
    (land,) = shapes(country, zorder=0.5)
    rings = [path.vertices for path in land.get_paths()]
    assert rings and all(
        (ring.max(axis=0) >= (-80, 37)).all() and (ring.min(axis=0) <= (-68, 44)).all() for ring in rings
    )
    assert "Coasts: Natural Earth, coarse." in notes(country)
    town = plot(places([[40.5, -74.3], [41.0, -73.7]]))
    assert not shapes(town, zorder=0.5) and "No coasts: ours are too coarse for this map." in notes(town)
    # Rings end at the date line; a view across it has land from both sides.
    (land,) = shapes(plot(places([[60.0, 160.0], [65.0, -160.0]])), zorder=0.5)
    extents = [(path.vertices[:, 0].min(), path.vertices[:, 0].max()) for path in land.get_paths()]
    assert any(high <= 180.1 for _, high in extents) and any(low >= 179.9 for low, _ in extents)


def test_a_scale_has_a_round_length_that_is_right_in_the_middle():
    ax = plot(EUROPE)
    (words,) = [each for each in texts(ax) if each.endswith(" km")]
    (bar,) = [each for each in ax.lines if each.get_linewidth() == 2]
    middle = sum(ax.get_ylim()) / 2
    degrees = float(np.ptp(bar.get_xdata()))
    apart = Points([[middle, 0.0], [middle, degrees]], metric="haversine").losses(0)[1]
    assert apart == pytest.approx(float(words.split()[0]), rel=0.01)
    assert degrees < (ax.get_xlim()[1] - ax.get_xlim()[0]) / 4


def test_names_stay_inside_and_cover_neither_each_other_nor_a_place():
    ax = plot(places(cities().coordinates, labels=cities().names))
    ax.figure.draw_without_rendering()
    named = [each for each in ax.texts if each.get_text() in cities().names]
    boxes, frame = [each.get_window_extent() for each in named], ax.get_window_extent()
    assert len(named) > 12 and named[0].get_text() == "Shanghai"  # the first comes first
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    assert all(frame.x0 - 2 <= each.x0 and each.x1 <= frame.x1 + 2 for each in boxes)


def test_a_name_without_room_is_left_out_and_has_no_dot():
    figure = Figure(figsize=(4, 3))
    ax = figure.add_subplot(xlim=(0, 10), ylim=(0, 10))
    x, y = np.array([5.0, 5.4, 5.8, 50.0, 5.0]), np.array([5.0, 5.0, 5.0, 5.0, 2.0])
    write_names(ax, ["first", "between", "third", "far away", "a" * 200], x, y, dot=2)
    assert texts(ax) == ["first", "third"] and len(ax.lines) == 2
    assert [each.get_horizontalalignment() for each in ax.texts] == ["right", "left"]


# Places, and what a person may report.


def test_a_map_of_places_says_that_they_must_be_public():
    ax = plot(EUROPE, title="Six cities", credit="me")
    assert ax.get_label().startswith("Six cities. A map: 6 places. Made from the places alone")
    assert "which must be public: never the positions of the people who report." in notes(ax)
    assert "Places: me." in notes(ax) and ax.get_title(loc="left") == "Six cities"
    spots, _, _ = dots(ax)
    np.testing.assert_allclose(spots, np.array(ROWS)[:, ::-1])
    assert set(texts(ax)) >= {"Berlin", "Rome", "Madrid"}


def test_a_picture_stands_beside_others_and_leaves_their_figure_alone():
    figure, both = plt.subplots(1, 2)
    assert plot(EUROPE, ax=both[0]) is both[0]
    assert heated(EUROPE, ["Paris"] * 500).plot(both[1], title="Shares") is both[1]
    assert figure.get_supxlabel() == "" and both[1].get_title() + both[1].get_title(loc="left") == "Shares"
    part = plt.figure().subfigures(1, 2)[1]
    assert set(texts(plot(EUROPE, ax=part.subplots()))) >= {"Berlin", "Rome"}


@pytest.mark.parametrize("make", [BRR, Anchored, Exponential], ids=lambda make: make.__name__)
def test_a_map_of_a_person_shows_the_tickets_and_the_promise(make):
    mechanism = make(EUROPE, 1)
    ax = plot(mechanism, at="Paris")
    assert f"{make.__name__}: ε-LDP of each report with ε = 1. The person is made up" in notes(ax)
    assert "true place: Paris" in texts(ax)
    row = mechanism.matrix()[1]
    chance = {tuple(ROWS[NAMES.index(to)]): p for to, p in zip(mechanism.outputs, row, strict=True)}
    spots, areas, colours = dots(ax)
    for spot, area, colour in zip(spots, areas, colours, strict=True):
        share = chance.get(tuple(spot[::-1].round(6).tolist()), 0.0) / max(row)
        assert area == pytest.approx(max(70 * share, 5))
        assert share < 1 or to_hex(colour) == BLUE.lower()
        assert share > 0 or to_hex(colour) == "#ababab"


def test_a_person_stands_in_a_cell_of_a_grid_by_its_name():
    mechanism = GRR(SQUARE, 2)
    ax = plot(mechanism, at="B1")
    assert ax.get_label().startswith("A map for a person at B1 (50.83, 0.75): 1 favoured, probability")
    assert plot(mechanism, at=5).get_label() == ax.get_label()
    (cells,) = shapes(ax, zorder=0.7)
    assert [to_hex(each) for each in cells.get_facecolors()] == [PALE.lower()] * 5 + [BLUE.lower()]
    assert [each.get_text() for each in ax.get_xticklabels()] == ["A", "B"]
    assert [each.get_text() for each in ax.get_yticklabels()] == ["3", "2", "1"]


@pytest.mark.parametrize(
    ("chances", "words"),
    [
        ([0.4, 0.4, 0.1, 0.1], ["2 favoured, probability 40 % each", "2 others: 10 % each"]),
        ([0.6, 0.4, 0.0, 0.0], ["1 favoured, probability 60 % each", "1 other: 40 % each", "2 never reported"]),
        ([0.4, 0.3, 0.2, 0.1], ["highest probability 40 %", "lowest 10 %, shades between"]),
        ([0.25, 0.25, 0.25, 0.25], ["4 places, probability 25 % each"]),
    ],
    ids=["two chances", "some never", "many chances", "all alike"],
)
def test_the_kinds_of_places_are_said_in_words(chances, words):
    assert list(_kinds(np.array(chances))) == words


# Heat maps.


def test_a_heat_map_is_darkest_where_most_people_are_and_names_them_first():
    heat = heated(EUROPE, ["Rome"] * 600 + ["Paris"] * 300 + ["Oslo"] * 100)
    ax = heat.plot()
    spots, _, _ = dots(ax)
    (drawn,) = [each for each in ax.collections if isinstance(each, PathCollection)]
    np.testing.assert_allclose(drawn.get_array(), np.sort(heat.shares))
    assert spots[-1].tolist() == [12.5, 41.9]  # the largest is drawn last, over the others
    lightness = [sum(to_rgba(each)[:3]) for each in drawn.cmap(drawn.norm([-0.1, 0, 0.3, 0.6]))]
    assert lightness[0] == lightness[1] > lightness[2] > lightness[3]
    low, high = heat.intervals()
    held = f"the largest share, at Rome: {percent(heat.shares[3])}, {percent(low[3])} to {percent(high[3])}."
    assert ax.get_label().startswith(f"A heat map of 6 places; {held} 1,000 reports. Guarantee: ε-LDP of each report")
    assert next(each for each in texts(ax) if each in NAMES) == "Rome"


def test_cells_are_drawn_where_they_lie_and_those_that_are_not_empty_have_an_edge():
    heat = heated(SQUARE, [0] * 3000 + [5] * 1000)
    ax = heat.plot()
    (filled,), (edged,) = shapes(ax, zorder=0.7), shapes(ax, zorder=0.9)
    corners = [path.vertices[:4] for path in filled.get_paths()]
    for (south, west, north, east), corner in zip(squares_of(SQUARE).boxes, corners, strict=True):
        np.testing.assert_allclose(corner.min(axis=0), (west, south))
        np.testing.assert_allclose(corner.max(axis=0), (east, north))
    np.testing.assert_allclose(filled.get_array(), heat.shares)
    sure = np.flatnonzero(heat.intervals(together=True)[0] > 0)
    assert sure.tolist() == [0, 5] and [to_hex(each) for each in edged.get_edgecolors()] == [INK]
    assert [path.vertices[:4].tolist() for path in edged.get_paths()] == [corners[each].tolist() for each in sure]
    assert "A heat map of 6 cells; the largest share, at A3 (50.17, 0.25): 75 %" in ax.get_label()
    assert "A dark edge marks a cell whose interval excludes 0 (95 % for all cells together)." in notes(ax)
    assert [each.get_text() for each in ax.get_xticklabels()] == ["A", "B"]
    bar = ax.figure.axes[1]
    assert bar.get_xlabel() == "share of people in each cell"
    assert heated(SQUARE, [0] * 20).plot().get_label().startswith("A heat map of 6 cells; the largest share, at A3")
    assert not shapes(heated(SQUARE, [0] * 20).plot(), zorder=0.9)


def test_towns_within_are_named_and_a_shore_is_seen_above_the_cells():
    domain = grid((35, -12, 62, 42), metres=600_000)
    ax = heated(domain, [0] * 1000).plot()
    named = set(texts(ax)) & set(cities().names)
    assert {"London", "Berlin", "Kyiv"} <= named and not named & {"Tokyo", "Lagos", "Shanghai"}
    assert shapes(ax, zorder=0.8) and "Cities: GeoNames, CC BY 4.0. Coasts: Natural Earth, coarse." in notes(ax)


def test_cells_across_the_date_line_lie_side_by_side():
    domain = grid((-22, 172, -10, -168), metres=300_000)
    ax = heated(domain, [0] * 1000).plot()
    (filled,) = shapes(ax, zorder=0.7)
    vertices = np.vstack([path.vertices for path in filled.get_paths()])
    assert vertices[:, 0].min() == pytest.approx(172) and vertices[:, 0].max() == pytest.approx(192)


# All of them.


def test_pictures_are_the_same_on_every_run_and_embed_nothing():
    heat = heated(SQUARE, [0] * 3000 + [5] * 1000)
    for draw in (heat.plot, lambda: plot(BRR(EUROPE, 1), at="Paris"), lambda: plot(SQUARE)):
        drawn = as_svg(draw)
        assert drawn == as_svg(draw) and "<image" not in drawn and "data:" not in drawn
        ET.fromstring(drawn)


def test_every_name_is_shown_as_it_is():
    world = places(ROWS, labels=[EVIL, *NAMES[1:]])
    for draw in (
        lambda: plot(world, title="a & b"),
        lambda: plot(BRR(world, 1), at=EVIL),
        heated(world, [EVIL] * 100).plot,
    ):
        drawn = as_svg(draw)
        assert "<img" not in drawn and "\x00" not in drawn
        assert any("$\\frac$" in (each or "") for each in ET.fromstring(drawn).itertext())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot(BRR(EUROPE, 1)), "Expected at= with a mechanism, .* try at='Berlin'"),
        (lambda: plot(EUROPE, at="Paris"), "at= belongs to a mechanism"),
        (lambda: plot(Points([[0, 0], [1, 1]])), "Expected places as bp.Points"),
        (lambda: plot(BRR(Integers(1, 5), 1), at=1), "Expected places as bp.Points"),
        (lambda: plot(OUE(EUROPE, 1), at="Paris"), "The reports of OUE.* are not places of its domain, so no map can"),
        (lambda: plot(EUROPE, ax=3), "Expected ax as matplotlib axes, got int"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_words(call, message):
    with pytest.raises(InputError, match=message):
        call()
    with pytest.raises(OutsideDomainError):
        plot(BRR(EUROPE, 1), at="Atlantis")
    with pytest.raises(NotAValueError, match="is not a row number in 0..5"):
        plot(BRR(SQUARE, 1), at=np.array([1, 2]))


def test_more_places_than_a_picture_can_show_are_refused(monkeypatch):
    monkeypatch.setattr("bipartite.locations.maps.MOST_DRAWN", 5)
    for shown, at in ((EUROPE, None), (BRR(EUROPE, 1), "Paris")):
        with pytest.raises(InputError, match="Expected at most 5 places in a picture, got 6; plot some of them"):
            plot(shown, at)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    heat = heated(SQUARE, [0] * 100)
    for draw in (lambda: plot(EUROPE), heat.plot):
        with pytest.raises(MissingExtraError, match=r'needs matplotlib, .*pip install "bipartite\[plots\]"'):
            draw()
    assert heat._repr_svg_() is None and heat.to_geojson()["features"]


def test_names_on_dark_axes_are_dark_on_their_paper():
    with plt.style.context("dark_background"):
        ax = plot(places([[52.5, 13.4], [48.9, 2.3]], labels=["Berlin", "Paris"]), ax=plt.subplots()[1])
    assert {each.get_color() for each in ax.texts} == {INK}
