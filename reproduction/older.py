"""For the time of the move: experiments and claims of the older form, as if they had the new one."""

from __future__ import annotations

import io
from dataclasses import asdict, dataclass, replace
from types import SimpleNamespace
from typing import Any

from reproduction.claim import Judgement, Verdict
from reproduction.claims.verdict import Verdict as OldVerdict
from reproduction.form import as_csv
from reproduction.runner.reading import value_of


@dataclass(frozen=True)
class OldGrid:
    module: Any
    settings: Any

    def __iter__(self):
        return (asdict(cell) for cell in self.module.cells(self.settings))

    def seeds(self, count):
        held = getattr(self.settings, "seeds", None)
        if held is None:
            return self
        return OldGrid(
            self.module, replace(self.settings, seeds=tuple(range(count)) if isinstance(held, tuple) else count)
        )

    def axes(self):
        return asdict(self.settings)


def adapted(module):
    def cell(point):
        return module.Cell(**{name: tuple(v) if isinstance(v, list) else v for name, v in point.items()})

    return SimpleNamespace(
        FULL=OldGrid(module, module.Settings()),
        QUICK=OldGrid(module, module.QUICK),
        measure=lambda **point: module.measure(cell(point)),
        draw=lambda table: module.draw(listed(table)),
        NOTE=getattr(module, "NOTE", ""),
    )


def listed(table):
    import csv

    text = as_csv(table.astype(object).where(table.notna(), "").to_dict("records"))
    return [{c: value_of(v) for c, v in row.items()} for row in csv.DictReader(io.StringIO(text))]


def judged(claim, tables):
    found = claim.judge({name: listed(table) for name, table in tables.items() if name in claim.needs})
    verdict = Verdict.PART if found.verdict == OldVerdict.CORRECTED else Verdict(str(found.verdict))
    return Judgement(verdict, found.measured, found.why, broken=found.broken)
