"""Exact proofs of ε."""

from bipartite.verify.certificate import Certificate, verify

__all__ = ["Certificate", "verify"]
