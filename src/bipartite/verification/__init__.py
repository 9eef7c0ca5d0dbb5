"""Exact proofs of ε, and what reports alone tell of it."""

from bipartite.verification.audit import Audit, audit
from bipartite.verification.certificate import Certificate, verify
from bipartite.verification.law import LawTest, law_test
from bipartite.verification.plan import trials_needed

__all__ = ["Audit", "Certificate", "LawTest", "audit", "law_test", "trials_needed", "verify"]
