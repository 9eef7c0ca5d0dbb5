"""Who has spent what: budgets of people and periods, debited before a report is released."""

from bipartite.ledger.book import Debit, Ledger
from bipartite.ledger.certificate import QuestionCertificate

__all__ = ["Debit", "Ledger", "QuestionCertificate"]
