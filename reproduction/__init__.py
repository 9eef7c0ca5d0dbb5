"""The laboratory: the paper's figures, data sets, printed formulas, and a verdict on every claim."""
