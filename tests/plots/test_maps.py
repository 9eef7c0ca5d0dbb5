"""Maps are read back as XML: dots stand where the places are, and say what they were given."""

import itertools
import re
import sys
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from bipartite.errors import InputError, MissingExtraError
from bipartite.plots import chances_around, png, regions_on_a_map, save, shares_on_a_map, style
from bipartite.plots.map import _hull, heat
from bipartite.plots.map_heat import Drawn
from bipartite.plots.map_numbers import numbered
from bipartite.plots.view import View
from tests.plots.reading import SVG, words

EUROPE = np.array([[52.52, 13.40], [48.86, 2.35], [51.51, -0.13], [41.9, 12.5]])
NAMES = ["Berlin", "Paris", "London", "Rome"]


def dots(drawn):
    return {each[0].text: each for each in ET.fromstring(drawn).iter(f"{SVG}circle") if len(each)}


def test_a_view_keeps_the_shape_in_its_middle_and_all_places_inside():
    view = View(EUROPE, top=30)
    (berlin, paris, _, rome) = view.at(EUROPE)
    middle = (52.52 + 41.9) / 2
    across = (berlin[0] - paris[0]) / (13.40 - 2.35)
    down = (rome[1] - berlin[1]) / (52.52 - 41.9)
    assert across / down == pytest.approx(np.cos(np.radians(middle)), rel=1e-9)
    for x, y in view.at(EUROPE):
        assert view.left < x < view.left + view.width and view.top < y < view.bottom
    assert view.left >= 0 and view.left + view.width <= style.WIDTH + 1e-9


def test_places_on_both_sides_of_the_date_line_are_neighbours():
    view = View(np.array([[-18.1, 178.4], [-13.8, -171.8]]), top=0)  # Fiji and Samoa
    fiji, samoa = view.at(np.array([[-18.1, 178.4], [-13.8, -171.8]]))
    assert fiji[0] < samoa[0]
    assert view.width / (samoa[0] - fiji[0]) < 2  # and not a view of the whole world


def test_one_place_and_the_poles_still_have_a_view():
    for rows in ([[10.0, 20.0], [10.0, 20.0]], [[90.0, 0.0], [-90.0, 180.0]], [[89.9, -180.0], [89.8, 180.0]]):
        view = View(np.array(rows), top=0)
        assert np.isfinite(view.at(np.array(rows))).all()
        assert 0 < view.height <= 1200 and view.ground([]) and view.scale()


def test_numbers_of_latitudes_leave_room_to_longitudes_and_to_the_scale():
    view = View(np.array([[52.31, 13.05], [52.69, 13.75]]), top=30)
    numbers = {each: float(y) for y, each in re.findall(r'y="([\d.]+)"[^>]*>([^<]*° [NE])<', "".join(view.ground([])))}
    latitudes = [y for each, y in numbers.items() if each.endswith("N")]
    assert len(latitudes) >= 2
    assert min(latitudes) - 9 > max(y for each, y in numbers.items() if each.endswith("E"))
    (scale,) = re.findall(r'y="([\d.]+)"[^>]*>[\d]+ km<', "".join(view.scale()))
    assert max(latitudes) < float(scale) - 11


def test_land_beyond_the_view_is_left_out_and_land_across_the_date_line_is_drawn_twice():
    far = [np.array([[-40.0, 100.0], [-41.0, 100.0], [-41.0, 101.0]])]
    assert "<path" not in "".join(View(EUROPE, 0).ground(far))
    whole = View(np.array([[0.0, 90.0], [0.0, -100.0], [10.0, 179.0]]), 0)
    assert "".join(whole.ground([np.array([[5.0, -180.0], [6.0, 180.0], [4.0, 180.0]])])).count("<path") >= 2


def test_regions_have_colours_numbers_and_names():
    drawn = regions_on_a_map(
        EUROPE, np.array([0, 1, 1, 0]), ["<east>", "west & co"], labels=NAMES, coasts=[], notes=["What it promises."]
    )
    found = dots(drawn)
    assert set(found) == {
        "Berlin, region 1: <east>",
        "Rome, region 1: <east>",
        "Paris, region 2: west & co",
        "London, region 2: west & co",
    }
    assert len({each.get("fill") for each in found.values()}) == 2
    shown = words(drawn)
    assert (
        "4 places in 2 regions of 2 to 2" in shown and "1: <east>, 2 places" in shown and "What it promises." in shown
    )
    single = regions_on_a_map(EUROPE, np.zeros(4, dtype=int), ["all"], labels=NAMES, coasts=[])
    assert set(dots(single)) == set(NAMES) and "4 places" in single


def test_of_very_many_regions_the_largest_are_numbered_and_named():
    rows = np.column_stack([np.linspace(0, 50, 70), np.linspace(0, 50, 70)])
    of = np.concatenate([np.arange(60) // 2, np.full(10, 29)])
    names = [f"0110010110010110{i:02d}111" for i in range(30)]
    drawn = regions_on_a_map(rows, of, names, labels=[str(i) for i in range(70)], coasts=[])
    shown = words(drawn)
    assert "and 6 smaller regions" in shown and "30: 0110…1001011029111, 12 places" in shown
    assert "30" in shown and "29" not in shown
    assert shown.count("1") == 1


def boxes(drawn):
    """Where numbers stand on a map: (left, right, top, bottom) of each."""
    found = {}
    for each in ET.fromstring(f'<svg xmlns="http://www.w3.org/2000/svg">{drawn}</svg>').iter(f"{SVG}text"):
        x, y, half = float(each.get("x")), float(each.get("y")), 4.2 * len(each.text)
        found[each.text] = (x - half, x + half, y - 11, y)
    return found


def test_numbers_of_crowded_regions_do_not_cover_each_other():
    crowd = {str(number): (400 + 3.0 * (number % 5), 300 + 2.0 * number) for number in range(10, 34)}
    drawn = "".join(numbered(crowd, (0, 0, 860, 560)))
    for one, other in itertools.combinations(boxes(drawn).values(), 2):
        assert one[1] <= other[0] or one[0] >= other[1] or one[3] <= other[2] or one[2] >= other[3]
    # The first keeps its place; those that moved have a line to theirs.
    assert boxes(drawn)["10"][3] == crowd["10"][1] + 4
    moved = sum(abs(boxes(drawn)[name][3] - 4 - y) > 1e-6 or abs(sum(boxes(drawn)[name][:2]) / 2 - x) > 1e-6
                for name, (x, y) in crowd.items())  # fmt: skip
    assert drawn.count("<circle") == moved > 10
    for left, right, top, bottom in boxes("".join(numbered({"1": (1, 1), "2": (859, 559)}, (0, 0, 860, 560)))).values():
        assert left >= 0 and right <= 860 and top >= 0 and bottom <= 560
    # A map without room: better covered than lost.
    assert set(boxes("".join(numbered({"1": (5, 5), "2": (5, 5)}, (0, 0, 10, 10))))) == {"1", "2"}


def test_a_town_has_no_coasts_because_ours_are_too_coarse():
    ring = [np.array([[40.0, -75.0], [41.5, -75.0], [41.5, -73.0]])]
    town = View(np.array([[40.5, -74.3], [41.0, -73.7]]), 0)
    country = View(np.array([[38.0, -78.0], [43.0, -70.0]]), 0)
    assert "<path" not in "".join(town.ground(ring))
    assert "<path" in "".join(country.ground(ring))


@pytest.mark.parametrize(
    ("chances", "legend"),
    [
        ([0.4, 0.4, 0.1, 0.1], ["2 favoured, probability 40 % each", "2 others: 10 % each"]),
        ([0.6, 0.4, 0.0, 0.0], ["1 favoured, probability 60 % each", "1 other: 40 % each", "2 never reported"]),
        ([0.4, 0.3, 0.2, 0.1], ["highest probability 40 %", "lowest 10 %, shades between"]),
        ([0.25, 0.25, 0.25, 0.25], ["4 places, probability 25 % each"]),
    ],
    ids=["two chances", "some never", "many chances", "all alike"],
)
def test_the_chances_of_a_person_are_areas_and_shades(chances, legend):
    drawn = chances_around(EUROPE, np.array(chances), truth=1, labels=NAMES, coasts=[])
    found = dots(drawn)
    assert "Berlin: " + f"{100 * chances[0]:.0f} %" in found
    shown = words(drawn)
    assert all(line in shown for line in legend) and "true place: Paris" in shown
    radii = {name.split(":")[0]: float(each.get("r")) for name, each in found.items()}
    assert (radii["Paris"] / radii["Berlin"]) ** 2 == pytest.approx(chances[1] / chances[0], rel=0.05)
    assert found[f"Berlin: {100 * chances[0]:.0f} %"].get("fill") == style.BRR


@pytest.mark.parametrize(("truth", "anchor"), [(0, "end"), (2, "start")])
def test_the_label_of_a_place_stands_where_there_is_room(truth, anchor):
    drawn = chances_around(EUROPE, np.full(4, 0.25), truth=truth, labels=["Near & <far>", *NAMES[1:]], coasts=[])
    assert "Near & <far>: 25 %" in dots(drawn)
    texts = ET.fromstring(drawn).iter(f"{SVG}text")
    label = next(each for each in texts if each.text.startswith("true place: "))
    assert label.get("text-anchor") == anchor


def test_a_heat_map_is_darkest_where_most_people_are():
    drawn = shares_on_a_map(
        EUROPE, np.array([0.5, 0.3, 0.2, -0.01]), labels=NAMES, words=["a", "b", "c", "d"], coasts=[]
    )
    found = dots(drawn)
    assert found["Berlin: a"].get("fill") == heat(1.0)
    assert found["Rome: d"].get("fill") == heat(0.0) == heat(-3)
    assert "the largest share, at Berlin: a" in drawn


def test_the_outline_of_points_is_their_convex_hull():
    rng = np.random.default_rng(3)
    points = [tuple(each) for each in rng.normal(size=(60, 2)).tolist()]
    expected = {points[each] for each in ConvexHull(points).vertices}
    assert set(_hull(points)) == expected
    assert _hull([(0, 0), (1, 1), (0, 0)]) == [(0, 0), (1, 1)]


def test_pictures_become_files_of_both_kinds(tmp_path):
    drawn = regions_on_a_map(EUROPE, np.zeros(4, dtype=int), ["all"], labels=NAMES, coasts=[])
    save(drawn, tmp_path / "map.svg")
    assert (tmp_path / "map.svg").read_text(encoding="utf-8") == drawn + "\n"
    save(drawn, str(tmp_path / "map.PNG"))
    written = (tmp_path / "map.PNG").read_bytes()
    assert written.startswith(b"\x89PNG\r\n")
    assert int.from_bytes(written[16:20]) == 2 * style.WIDTH
    with pytest.raises(InputError, match=r"Expected a file name ending in .svg or .png, got 'map.jpg'; rename it."):
        save(drawn, tmp_path / "map.jpg")


def test_png_without_its_extra_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(MissingExtraError, match=r'needs resvg-py, .*; run: pip install "bipartite\[png\]"'):
        png("<svg/>")


def test_cells_are_drawn_where_they_lie_and_some_have_an_edge():
    cells = np.array([[50.0, 10.0, 51.0, 12.0], [51.0, 10.0, 52.0, 12.0]])
    centres = np.array([[50.5, 11.0], [51.5, 11.0]])
    how = Drawn(
        cells, np.array([False, True]), {"Here": (50.5, 10.5), "Far": (0.0, 0.0), "Below it": (50.5, 10.6)}, 440
    )
    drawn = shares_on_a_map(
        centres, np.array([0.25, 0.75]), labels=["south", "north"], words=["25 %", "75 %"], coasts=[], how=how
    )
    root = ET.fromstring(drawn)
    assert root.get("viewBox").startswith("0 0 440 ")
    assert "A heat map of 2 cells; the largest share, at north: 75 %" in drawn
    filled = {each[0].text: each for each in root.iter(f"{SVG}rect") if len(each)}
    south, north = filled["south: 25 %"], filled["north: 75 %"]
    assert (south.get("x"), north.get("fill")) == (north.get("x"), heat(1.0))
    assert float(north.get("y")) + float(north.get("height")) == pytest.approx(float(south.get("y")), abs=0.11)
    wide, tall = (float(south.get(each)) for each in ("width", "height"))
    assert wide / tall == pytest.approx(2 * np.cos(np.radians(51)), rel=0.01)
    edged = [each for each in root.iter(f"{SVG}rect") if each.get("stroke") == style.INK]
    assert [each.get("y") for each in edged] == [north.get("y")]
    shown = words(root)
    # One beyond the map is not named, nor one whose name would cover another.
    assert "Here" in shown and "Far" not in shown and "Below it" not in shown


def test_coasts_are_seen_above_cells_but_not_in_a_town():
    coast = [np.array([[40.0, 0.0], [60.0, 0.0], [60.0, 15.0]])]
    for size, lines in ((4.0, 1), (0.1, 0)):
        view = View(np.array([[50.0, 10.0], [50.0 + size, 10.0 + size]]), 0)
        assert len(view.shores(coast)) == lines
