"""From reports to answers, with intervals."""

from bipartite.estimate.forecast import Forecast, forecast

__all__ = ["Forecast", "forecast"]
