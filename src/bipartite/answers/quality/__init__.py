"""The quality of single reports: expected, worst and typical loss, and what can be inferred from one."""

from bipartite.answers.quality.bounds import local_bound
from bipartite.answers.quality.inference import inference_error
from bipartite.answers.quality.measures import expected_loss, local_loss, loss_quantile, qloss, share_within, worst_loss

__all__ = [
    "expected_loss",
    "inference_error",
    "local_bound",
    "local_loss",
    "loss_quantile",
    "qloss",
    "share_within",
    "worst_loss",
]
