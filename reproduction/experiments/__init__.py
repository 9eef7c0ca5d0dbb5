"""The paper, reproduced: one file a figure, in the form of :mod:`reproduction.form`.

:mod:`reproduction.registry` lists the experiments, :mod:`reproduction.running` runs them, :mod:`reproduction.claims`
has the claims of the paper, and :mod:`reproduction.report` is what a reviewer reads.
"""
