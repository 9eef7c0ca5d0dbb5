"""The mechanisms of the figures on a line: those of the paper, and the lines that it does not have."""

from collections.abc import Callable
from typing import Final

from bipartite.domains import Domain
from bipartite.mechanisms import BRR, GRR, Anchored, Constant, Exponential, Mechanism

Maker = Callable[[Domain, str], Mechanism]

SILENCE: Final = "always the middle"


def makers(*, tables: bool = True) -> dict[str, Maker]:
    """How each is made; ``tables=False`` leaves out those that need N² tickets."""
    made: dict[str, Maker] = {
        "BRR": BRR,
        "GRR": GRR,
        "Anchored": Anchored,
        SILENCE: lambda domain, _: Constant(domain),
    }
    if tables:
        made["Exponential"] = lambda domain, epsilon: Exponential(domain, epsilon, variant="published")
        made["Exponential, tight"] = Exponential
    return made
