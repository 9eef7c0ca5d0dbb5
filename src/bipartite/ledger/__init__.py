"""Who has spent what: budgets of people and periods, debited before a report is released."""
