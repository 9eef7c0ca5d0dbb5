"""The published schemas of ``--json``."""

import json
from pathlib import Path

import jsonschema

SCHEMAS = Path(__file__).parents[1] / "schemas"


def conforms(value, name):
    jsonschema.validate(value, json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8")))
    return value
