"""Exact proofs of ε from tickets, and lower bounds on the ε of any sampler from its reports alone.

May import: lottery, domains, mechanisms.
Begin reading: certificate.py, audit.py.
"""

from bipartite.verification.audit import Audit, audit
from bipartite.verification.certificate import Certificate, verify
from bipartite.verification.law import LawTest, law_test
from bipartite.verification.plan import trials_needed

__all__ = ["Audit", "Certificate", "LawTest", "audit", "law_test", "trials_needed", "verify"]
