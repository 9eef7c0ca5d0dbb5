"""Maps of regions say what is public, and what publishing a region would tell."""

from xml.etree import ElementTree as ET

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex

from bipartite.locations import places
from reproduction.places import draw
from reproduction.places.maps import COLOURS, plot
from tests.locations.worlds import in_regions

ROWS = [[52.52, 13.40], [48.86, 2.35], [51.51, -0.13], [41.9, 12.5], [40.4, -3.7], [59.9, 10.7]]
EUROPE = places(ROWS, labels=["Berlin", "Paris", "London", "Rome", "Madrid", "Oslo"])
EVIL = "</script><img src=x onerror=alert(1)>\"'&\x00"


def words(drawn):
    return " ".join("".join(ET.fromstring(drawn).itertext()).split())


def test_a_map_of_regions_says_what_publishing_them_would_tell():
    drawn = words(draw(in_regions(EUROPE, ["n", "s", "n", "s", "s", "n"])))
    assert "1.00 bits under the uniform prior" in drawn and "only 3 possible places" in drawn
    assert "leading bits that the map tile codes" in drawn


def test_regions_have_colours_outlines_numbers_and_names():
    ax = plot(in_regions(EUROPE, ["n", "s", "n", "s", "s", "n"]), title="Europe")
    assert ax.get_label().startswith("Europe. A map: 6 places in 2 regions of 3 to 3; 1: n, 3 places; 2: s, 3 places.")
    assert [each.get_text() for each in ax.get_legend().get_texts()] == ["1: n, 3 places", "2: s, 3 places"]
    assert {"1", "2"} <= {each.get_text() for each in ax.texts}
    (dots,) = [each for each in ax.collections if len(each.get_offsets()) == 6]
    assert [to_hex(each) for each in dots.get_facecolors()] == [COLOURS[at].lower() for at in (0, 1, 0, 1, 1, 0)]
    outlines = [{tuple(corner) for corner in each.get_xy().round(6).tolist()} for each in ax.patches]
    assert outlines == [{tuple(ROWS[at][::-1]) for at in some} for some in ((0, 2, 5), (1, 3, 4))]


def test_of_very_many_regions_the_largest_are_numbered_and_named():
    rows = np.column_stack([np.linspace(0, 50, 70), np.linspace(0, 50, 70)])  # on a line, which has no inside
    ax = plot(in_regions(places(rows), [f"0110010110010110{min(at // 2, 29):02d}111" for at in range(70)]))
    named = [each.get_text() for each in ax.get_legend().get_texts()]
    assert len(named) == 24 and "30: 0110…1029111, 12 places" in named
    assert "and 6 smaller regions" in ax.get_label() and "and 6 smaller regions" in ax.figure.get_supxlabel()
    plt.close("all")


def test_every_name_is_escaped():
    world = places(ROWS, labels=[EVIL, *EUROPE.labels[1:]])
    drawn = draw(in_regions(world, [EVIL, EVIL, "b", "b", "b", "b"]), credit=EVIL.replace("\x00", ""))
    assert "<img" not in drawn and "\x00" not in drawn and ET.fromstring(drawn) is not None
