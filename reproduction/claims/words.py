"""Claims that are about others' work or about what the paper ships."""

from __future__ import annotations

from typing import Final

from reproduction.claims.networks import rebuilt_rival
from reproduction.claims.verdict import Claim, cannot

CITED: Final = (
    Claim("results of Wang et al. 2020", "Appendix B.3", "DNN-BRR also outperforms the results shown in Wang et al. 2020.", rebuilt_rival, ("dnn_readings",), "docs/private-networks.md"),
    Claim("non-private baselines", "Figs. 9 to 11", "NP-GBDT and NP are those of the cited papers.", cannot("Their implementations are not here; the lines without privacy in this report are ours.")),
    Claim("open science", "Open Science appendix", "All artifacts are in the named repository, self-contained, with all data sets; none is withheld.", cannot("The anonymous address cannot be reached from here. A public copy of the scripts was read, which may not be what stands there: the 1000 Gowalla places are in it, and these scripts differ from the text in every learning experiment (noise that ignores ε, gradients instead of leaves, tests on training images).")),
    Claim("environment", "Appendix B.4", "Times were taken at 3.41 GHz with 16 GB under Windows 10 and Python 3.12.", cannot("Another machine.")),
)  # fmt: skip
