"""Compare the gradients of people on a GPU to the last bit while others come and go, and count rows a second.

Run ``python bench/rows_gpu.py [LOG]`` where torch has a GPU; NumPy, torch and ``cryptography`` are needed. It removes,
adds, moves and reorders people: with exact products nobody's row may change; with torch's own gradients some may, which
shows what the comparison can find. The log is kept in ``bench/results/rows-gpu.md``.
"""

from __future__ import annotations

import platform
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from bipartite.learn import PerExample, paper_cnn
from bipartite.learn.gradients.any_network import AnyNetwork

if TYPE_CHECKING:
    from collections.abc import Callable

    Compute = Callable[[torch.Tensor, torch.Tensor], object]

nn = torch.nn
LOSS = nn.functional.cross_entropy
NETWORKS = {
    "the paper's network": (paper_cnn, (1, 28, 28)),
    "tanh, Conv16 and Conv32": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 16, 8, stride=2, padding=2), nn.Tanh(), nn.MaxPool2d(2, stride=1),
            nn.Conv2d(16, 32, 4, stride=2), nn.Tanh(), nn.MaxPool2d(2, stride=1),
            nn.Flatten(), nn.Linear(512, 32), nn.Tanh(), nn.Linear(32, 10),
        ),
        (1, 28, 28),
    ),
    "every layer, odd sizes": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 6, 3, padding=1, stride=2), nn.GroupNorm(2, 6), nn.SiLU(), nn.AvgPool2d(2, stride=1),
            nn.Tanh(), nn.Conv2d(6, 5, (2, 3), padding=(1, 1)), nn.Sigmoid(), nn.MaxPool2d(2), nn.GELU("tanh"),
            nn.Flatten(), nn.Linear(20, 7), nn.GroupNorm(1, 7), nn.ReLU(), nn.Linear(7, 10),
        ),
        (3, 9, 11),
    ),
    "Linear(33, 17)": (lambda: nn.Linear(33, 17), (33,)),
    "Linear(601, 10)": (lambda: nn.Linear(601, 10), (601,)),
    "layers 100-300-77-10": (
        lambda: nn.Sequential(nn.Linear(100, 300), nn.ReLU(), nn.Linear(300, 77), nn.ReLU(), nn.Linear(77, 10)),
        (100,),
    ),
}  # fmt: skip
PEOPLE = 599
SECONDS = 2.0


def arrangements(people: int) -> dict[str, list[int]]:
    """Who is there, in which order; the last of all are people who may be added."""
    everybody = list(range(people))
    mixed = torch.randperm(people, generator=torch.Generator().manual_seed(3)).tolist()
    return {
        "the first removed": everybody[1:],
        "one in the middle removed": everybody[: people // 2] + everybody[people // 2 + 1 :],
        "one added in front": [people, *everybody],
        "thirty added within": everybody[:77] + list(range(people, people + 30)) + everybody[77:],
        "reordered": mixed,
        "half of them, reordered": mixed[: people // 2],
        "three alone": everybody[5:8],
        "one alone": everybody[9:10],
    }


def changed(
    compute: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    features: torch.Tensor,
    labels: torch.Tensor,
    people: int = PEOPLE,
) -> dict[str, int]:
    """By arrangement, the number of people whose row differs in any bit from the one they had among everybody."""
    rows = compute(features[:people], labels[:people])
    found = {}
    for name, who in arrangements(people).items():
        at = torch.tensor(who, device=features.device)
        here = compute(features[at], labels[at])
        stay = at < people
        found[name] = int((rows[at[stay]] != here[stay]).any(1).sum())
    return found


def rows_a_second(compute: Compute, features: torch.Tensor, labels: torch.Tensor) -> float:
    """Over a short while, after one call to warm up."""
    compute(features, labels)
    torch.cuda.synchronize()
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < SECONDS:
        compute(features, labels)
        torch.cuda.synchronize()
        done += len(features)
    return done / (time.perf_counter() - began)


def main() -> int:
    """Compare, measure, write."""
    if not torch.cuda.is_available():
        print("There is no GPU here.")
        return 2
    lines = [
        "# Rows on a GPU",
        "",
        _about(),
        "",
        "| network | way | rows that changed, at most | rows a second | clipped and summed, rows a second |",
        "|---|---|---|---|---|",
    ]
    failed = False
    for name, (make, shape) in NETWORKS.items():
        torch.manual_seed(1)
        network = make().cuda()
        features = torch.randn(PEOPLE + 30, *shape, device="cuda")
        # Some people whose numbers are not ordinary, which must spoil nobody else's row.
        for at, value in enumerate((1e30, -1e-30, float("inf"), float("nan")), PEOPLE):
            features[at] = value
        labels = torch.randint(0, 10, (PEOPLE + 30,), device="cuda")
        many = torch.rand(4096, *shape, device="cuda"), torch.randint(0, 10, (4096,), device="cuda")
        proved = PerExample(network, LOSS)

        def exact(x: torch.Tensor, y: torch.Tensor, proved: PerExample = proved) -> torch.Tensor:
            return torch.cat(list(proved.blocks(x, y)))

        found = changed(exact, features, labels)
        failed |= any(found.values())
        seconds = rows_a_second(lambda x, y, g=proved: list(g.blocks(x, y)), *many)
        summed = rows_a_second(lambda x, y, g=proved: g.clipped_sum(x, y, 1.0, 2**20), *many)
        lines.append(f"| {name} | exact products | {max(found.values())} | {seconds:,.0f} | {summed:,.0f} |")
        for kind in (torch.float32, torch.float64):
            network = network.to(kind)
            other = AnyNetwork(network, LOSS, list(network.parameters()))
            found = changed(other.rows, features.to(kind), labels)
            seconds = rows_a_second(other.rows, many[0][:256].to(kind), many[1][:256])
            said = str(kind).removeprefix("torch.")
            lines.append(f"| {name} | torch, {said}, not proved | {max(found.values())} | {seconds:,.0f} | |")
        lines.append(_on_a_cpu(name, make, shape))
        print("\n".join(lines[-4:]), flush=True)
    lines += ["", "Exact products " + ("FAILED: rows changed." if failed else "kept every row in every arrangement.")]
    text = "\n".join(lines) + "\n"
    print(text)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text, encoding="utf-8")
    return int(failed)


def _about() -> str:
    return (
        f"{torch.cuda.get_device_name()}, torch {torch.__version__}, Python {platform.python_version()}; {PEOPLE} "
        f"made-up people, rows that changed in any bit in {len(arrangements(PEOPLE))} arrangements."
    )


def _on_a_cpu(name: str, make: Callable[[], nn.Module], shape: tuple[int, ...]) -> str:
    """How many rows of exact products are the same to the bit on the CPU; a device may divide by multiplying."""
    from bipartite.learn.gradients.exact_products import ExactProducts
    from bipartite.learn.gradients.layers import modules_of, shaped

    torch.manual_seed(1)
    network, features, labels = make(), torch.randn(200, *shape), torch.randint(0, 10, (200,))
    there = torch.cat(list(PerExample(network.cuda(), LOSS).blocks(features.cuda(), labels.cuda()))).cpu()
    network = network.cpu()
    here = ExactProducts(shaped(modules_of(network), shape), list(network.parameters())).rows(features, labels)
    same = int((here == there).all(1).sum())
    return f"| {name} | exact products, 200 on the CPU | {200 - same} differ from the GPU's | | |"


if __name__ == "__main__":
    sys.exit(main())
