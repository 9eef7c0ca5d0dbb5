"""The portable description of a mechanism: what travels to a client, and what a reader refuses.

A spec is a JSON object, named by the SHA-256 of its canonical form (RFC 8785). A reader refuses every field that it
does not know and every promise that the tickets do not keep; the version grows with every new field, and specs of
every version load forever.
"""

from bipartite.mechanisms.spec.canonical import canonical_json, spec_json, spec_sha256
from bipartite.mechanisms.spec.read import from_spec, load_spec

__all__ = ["canonical_json", "from_spec", "load_spec", "spec_json", "spec_sha256"]
