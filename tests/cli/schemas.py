"""The published schemas of ``--json``."""

import json
from functools import cache
from pathlib import Path

from jsonschema.validators import validator_for

import bipartite

SCHEMAS = Path(bipartite.__file__).parent / "cli" / "schemas"


@cache
def _validator(name):
    schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    kind = validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)


def conforms(value, name):
    """What a command printed as JSON, or was read from that, once it fits its schema."""
    if isinstance(value, str):
        value = json.loads(value)
    json.dumps(value, allow_nan=False)  # NaN is not JSON, though Python reads it
    _validator(name).validate(value)
    return value
