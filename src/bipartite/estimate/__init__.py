"""From reports to answers, with intervals."""

from bipartite.estimate.forecast import Forecast, forecast
from bipartite.estimate.identify import Identifiability, identifiability

__all__ = ["Forecast", "Identifiability", "forecast", "identifiability"]
