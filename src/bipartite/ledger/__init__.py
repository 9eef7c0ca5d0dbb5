"""Who has spent what: budgets of people and periods, debited before a report is released.

May import: lottery, domains, mechanisms, verification.
Begin reading: book.py.
"""

from bipartite.ledger.accounts import Debit
from bipartite.ledger.book import Ledger
from bipartite.ledger.certificate import QuestionCertificate

__all__ = ["Debit", "Ledger", "QuestionCertificate"]
