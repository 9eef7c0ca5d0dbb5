"""Read the specs that the library refuses because their tickets promise less than ε-LDP; all others it reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import bipartite as bp
from reproduction.places.lsrr import PublishedLSRR
from reproduction.places.planar import PlanarLaplace
from reproduction.places.within_region import WithinRegion

if TYPE_CHECKING:
    from bipartite.mechanisms import Mechanism
    from reproduction.places.weaker import Weaker


def from_spec(spec: object) -> Mechanism | Weaker:
    """The release that a spec describes; a weaker one is refused unless its tickets keep what it promises."""
    named = spec.get("mechanism") if isinstance(spec, Mapping) else None
    if isinstance(spec, Mapping) and named == "planar-laplace":
        return PlanarLaplace.read(spec)
    if isinstance(spec, Mapping) and named == "within-region":
        return WithinRegion.read(spec)
    if isinstance(spec, Mapping) and named == "lsrr" and spec.get("variant") == "published":
        return PublishedLSRR.read(spec)
    return bp.from_spec(spec)
