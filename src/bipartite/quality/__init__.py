"""What a report is worth."""

from bipartite.quality.line import expected_loss, local_loss, share_within

__all__ = ["expected_loss", "local_loss", "share_within"]
