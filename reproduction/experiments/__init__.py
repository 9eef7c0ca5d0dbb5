"""The paper, reproduced: one file a figure, one runner for all, and a verdict for every claim.

An experiment is a module with

- ``Settings``: a frozen dataclass of plain values, whose defaults are the full run; ``QUICK`` is small but real;
- ``cells(settings)``: the independent parts of a run, each a frozen dataclass of plain values (a seed is one of them);
- ``measure(cell)``: tidy rows, pure given the cell; what was measured is kept, so a run that was stopped goes on;
- ``draw(rows, *, extra=True)``: the pictures as SVG; ``extra=False`` leaves out lines that the paper does not have;
- ``NOTE``, if there is one: what a reader of the figure must know.

:mod:`~reproduction.runner.registry` lists them, :mod:`~reproduction.runner.running` runs them,
:mod:`~reproduction.claims` holds the claims of the paper and how each is judged, and
:mod:`~reproduction.runner.report` writes what a reviewer reads.
"""
