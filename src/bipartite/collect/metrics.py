"""Numbers for Prometheus. Reports are told in steps of 50, so that scraping often does not tell when one came."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, Counter, disable_created_metrics, generate_latest, multiprocess
from prometheus_client.core import GaugeMetricFamily

from bipartite.collect.store import STEP

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MEDIA_TYPE: Final = "text/plain; version=0.0.4"
disable_created_metrics()  # type: ignore[no-untyped-call]  # they are times
_registry: Final = CollectorRegistry()
_refused: Final = Counter("bipartite_refused", "Requests that counted no report", ["status"], registry=_registry)


class _Reports:
    """The reports in the database."""

    def __init__(self, counted: Mapping[str, int]) -> None:
        self._counted = counted

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """What Prometheus asks for."""
        told = GaugeMetricFamily("bipartite_reports", f"Reports counted, in steps of {STEP}", labels=["question"])
        for question, n in self._counted.items():
            told.add_metric([question], n // STEP * STEP)
        yield told


def refused(status: int) -> None:
    """Count a request that counted no report."""
    _refused.labels(status).inc()


def text(counted: Mapping[str, int]) -> bytes:
    """What all workers of this machine have refused, and the reports in the database."""
    told = CollectorRegistry() if "PROMETHEUS_MULTIPROC_DIR" in os.environ else _registry
    if told is not _registry:
        multiprocess.MultiProcessCollector(told)  # type: ignore[no-untyped-call]
    reports = CollectorRegistry()
    reports.register(_Reports(counted))
    return generate_latest(reports) + generate_latest(told)
