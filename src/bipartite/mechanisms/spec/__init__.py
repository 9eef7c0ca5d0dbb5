"""Specs, the portable descriptions of mechanisms: what is sent to a client, and what a reader refuses.

A spec is a JSON object, identified by the SHA-256 of its canonical form (RFC 8785). A reader refuses unknown fields and
tickets that do not keep the stated ε. Every new field raises the version, and specs of all versions load forever.
"""

from bipartite.mechanisms.spec.canonical import canonical_json, spec_json, spec_sha256
from bipartite.mechanisms.spec.read import from_spec, load_spec

__all__ = ["canonical_json", "from_spec", "load_spec", "spec_json", "spec_sha256"]
