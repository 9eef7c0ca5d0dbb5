"""Claims that are about others' work or about what the paper ships, and those of the abstract."""

from __future__ import annotations

from typing import Final

from reproduction.claims.line import no_worse
from reproduction.claims.networks import rebuilt_rival
from reproduction.claims.quality import grr_at_small
from reproduction.claims.verdict import Claim, cannot

INTRODUCTION: Final = (
    Claim("never larger than GRR", "Abstract", "The global expected error of BRR, which takes the least of the locally best m, is always no larger than that of GRR.", lambda found: no_worse(found, "average_worse_printed", "global error", of_the_searches=True), ("theorems",), "docs/errata.md"),
    Claim("GRR at large ε", "Introduction, citing Kairouz et al. 2016", "GRR is order optimal in the low privacy regime.", cannot("A result of others, cited without a statement that could be measured here.")),
    Claim("GRR at small ε", "Introduction, citing Kairouz et al. 2016", "GRR cannot achieve optimal utility at high privacy levels.", grr_at_small, ("optimality",), "docs/optimal-release.md"),
)  # fmt: skip
CITED: Final = (
    Claim("results of Wang et al. 2020", "Appendix B.3", "DNN-BRR also outperforms the results shown in Wang et al. 2020.", rebuilt_rival, ("dnn_readings",), "docs/private-networks.md"),
    Claim("non-private baselines", "Figs. 9 to 11", "NP-GBDT and NP are those of the cited papers.", cannot("Their implementations are not here; the lines without privacy in this report are ours.")),
    Claim("open science", "Open Science appendix", "All artifacts are in the named repository, self-contained, with all data sets; none is withheld.", cannot("The anonymous address cannot be reached from here. A public copy of the scripts was read, which may not be what stands there: the 1000 Gowalla places are in it, and these scripts differ from the text in every learning experiment (noise that ignores ε, gradients instead of leaves, tests on training images).")),
    Claim("environment", "Appendix B.4", "Times were taken at 3.41 GHz with 16 GB under Windows 10 and Python 3.12.", cannot("Another machine.")),
)  # fmt: skip
