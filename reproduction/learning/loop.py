"""The loop of SGD under the plans of the laboratory: sample people, get a private gradient, let an optimiser step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from bipartite.learn import PerExample
from reproduction.learning.laplace import LaplaceSGD
from reproduction.learning.local import Asked, LocalSGD, PrivateQuantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from bipartite.lottery import Source
    from reproduction.learning.local import Loss


def follow(  # noqa: PLR0913 (each named)
    plan: LaplaceSGD | LocalSGD,
    network: torch.nn.Module,
    features: torch.Tensor,
    labels: torch.Tensor,
    *,
    stepper: torch.optim.Optimizer,
    people: int,
    source: Source,
    loss: Loss = torch.nn.functional.cross_entropy,
    watch: Callable[[int], None] = lambda _: None,
) -> None:
    """All steps of a plan, on features and labels with one row a person; ``watch`` gets the number of each."""
    gradients = PerExample(network, loss)
    reports = None
    if isinstance(plan, LocalSGD) and not isinstance(plan.clip, PrivateQuantile):
        reports = plan.reports(gradients.size, plan.clip)
    done = 0
    for rows in plan.batches(len(features), source):
        at = torch.from_numpy(rows).to(features.device)
        if isinstance(plan, LaplaceSGD):
            found = plan.gradient(gradients, features[at], labels[at], people, source)
        else:
            asked = Asked(network, loss, features[at], labels[at])
            if reports is None:
                reports = plan.reports(gradients.size, plan.bound_of(asked, gradients.size, len(rows), source))
                continue
            starts = reports.starts(len(rows), source)
            drawn = reports.report(asked.coordinates(reports.chosen(starts)), source)
            found = torch.from_numpy(reports.totals(starts, drawn) / len(rows))
        gradients.assign(found.to(features.device))
        stepper.step()
        done += 1
        watch(done)
    stepper.zero_grad()
