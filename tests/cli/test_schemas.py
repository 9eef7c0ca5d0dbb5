"""The schemas that are published are those of the types that the commands print."""

import json

import pytest

from tests.cli.schemas import SCHEMAS
from tools.schemas import PRINTED, schema_of


@pytest.mark.parametrize("name", PRINTED)
def test_a_published_schema_is_that_of_its_type(name):
    assert (SCHEMAS / f"{name}.json").read_text(encoding="utf-8") == schema_of(PRINTED[name])


def test_a_schema_names_every_key_and_says_what_it_means():
    plan = json.loads(schema_of(PRINTED["plan"]))
    (top,) = (each for each in plan["$defs"].values() if "publishes" in each["properties"])
    assert top["additionalProperties"] is False
    assert set(top["required"]) == set(top["properties"]) - {"sample"}  # printed where a plan has it
    assert top["properties"]["people"]["description"]
