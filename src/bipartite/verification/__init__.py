"""Exact proofs of ε."""

from bipartite.verification.certificate import Certificate, verify

__all__ = ["Certificate", "verify"]
