"""Private positions become public places."""

import pytest

import bipartite as bp
from bipartite import locations
from bipartite.errors import InputError

BERLIN, PARIS, SYDNEY = [52.52, 13.405], [48.857, 2.352], [-33.869, 151.209]


def test_positions_become_the_nearest_place_and_far_ones_tell_nothing_by_default():
    found = locations.places([BERLIN, PARIS, SYDNEY], labels=["Berlin", "Paris", "Sydney"])
    positions = [[52.0, 13.0], [0.0, 0.0], [-34.0, 151.0]]
    assert locations.encode(found, positions) == ["Berlin", "Paris", "Sydney"]
    assert locations.encode(found, positions, max_distance=100) == ["Berlin", "Paris", "Sydney"]
    assert locations.encode(found, positions, max_distance=100, far="drop") == ["Berlin", "Sydney"]
    with pytest.raises(InputError, match="1 of 3 cannot be reported: position 1 is farther than 100 from every point"):
        locations.encode(found, positions, max_distance=100, far="error")
    with pytest.raises(InputError, match="build them with bp.locations.places"):
        locations.encode(bp.Integers(1, 3), positions)
