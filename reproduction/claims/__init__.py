"""The claims of the paper, and how each is judged from what was measured.

A verdict is computed: a function reads the rows of experiments and compares them with a stated threshold. Where nothing
can be measured, the claim says why.
"""

from reproduction.claims.judging import CLAIMS, Judged, judge_all
from reproduction.claims.verdict import Claim, Judgement, Verdict

__all__ = ["CLAIMS", "Claim", "Judged", "Judgement", "Verdict", "judge_all"]
