"""What a report is worth."""

from bipartite.quality.line import constant_loss, constant_share_within, expected_loss, local_loss, share_within

__all__ = ["constant_loss", "constant_share_within", "expected_loss", "local_loss", "share_within"]
