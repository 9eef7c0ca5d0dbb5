"""Who has spent what: budgets of people and periods, debited before a report is released.

May import: lottery, domains, mechanisms, verification.
Begin reading: book.py.
"""

from bipartite.ledger.audit import Debit, QuestionCertificate
from bipartite.ledger.book import Ledger

__all__ = ["Debit", "Ledger", "QuestionCertificate"]
