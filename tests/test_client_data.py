"""What the client was given by Python is what Python gives today."""

import json

import pytest

from make_client_data import CLIENT, FILES


@pytest.mark.parametrize("name", FILES)
def test_committed_data_of_the_client_are_what_their_script_makes(name):
    assert json.loads((CLIENT / name).read_text("utf-8")) == json.loads(json.dumps(FILES[name]()))
