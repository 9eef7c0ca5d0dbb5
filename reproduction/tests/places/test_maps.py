"""Maps of regions say what is public, and what publishing a region would tell."""

import re
from xml.etree import ElementTree as ET

import pytest

from bipartite.locations import places
from reproduction.places import Regions, draw

ROWS = [[52.52, 13.40], [48.86, 2.35], [51.51, -0.13], [41.9, 12.5], [40.4, -3.7], [59.9, 10.7]]
NAMES = ["Berlin", "Paris", "London", "Rome", "Madrid", "Oslo"]
EVIL = "</script><img src=x onerror=alert(1)>\"'&\x00"


@pytest.fixture
def europe():
    return places(ROWS, labels=NAMES)


def test_a_map_of_regions_says_what_publishing_them_would_tell(europe):
    regions = Regions.of(europe, ["n", "s", "n", "s", "s", "n"])
    drawn = draw(regions)
    assert "1.00 bits under the uniform prior" in drawn and "only 3 possible places" in " ".join(
        re.findall(">([^<]+)<", drawn)
    )
    assert "leading bits that the map tile codes" in draw(Regions.by_prefix(europe, at_least=2))
    assert "merged" not in drawn
    joined = " ".join(re.findall(">([^<]+)<", draw(Regions.of(europe, ["n", "s", "n", "s", "s", "alone"]))))
    assert "1 with a single place were merged with the region of the nearest other place" in joined


def test_a_map_of_one_region_has_nothing_to_publish(europe):
    assert "Publishing a person" not in draw(Regions.of(europe, ["all"] * 6))


def test_every_name_is_escaped():
    world = places(ROWS, labels=[EVIL, *NAMES[1:]])
    drawn = draw(Regions.of(world, [EVIL, EVIL, "b", "b", "b", "b"]), credit=EVIL.replace("\x00", ""))
    assert "<img" not in drawn and "\x00" not in drawn
    ET.fromstring(drawn)
