"""What a report is worth, what many reports say and how surely, and which mechanism to take.

May import: lottery, domains, plots, mechanisms, verification.
Begin reading: estimation/estimating.py, quality/losses.py, advise/forecasting.py.
"""
