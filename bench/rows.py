"""Compare the gradients of people to the last bit while others come and go, and count rows a second.

``python bench/rows.py`` runs itself under every setting below: the instruction sets that torch, MKL and oneDNN can be
forced to and this processor has, and one to five threads. ``--device cuda`` does the same on a GPU. Everywhere it
removes, adds, moves and reorders made-up people; nobody's row may change in any bit. Torch's own gradients beside them
show what the comparison can find. Results are kept in ``bench/results/rows.md`` and ``rows-gpu.md``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import torch
from torch.func import functional_call, grad, vmap

from bipartite.learn import PerExample, tanh_cnn
from tests.learn.gradients import networks
from tests.learn.gradients.rows_elsewhere import changed

if TYPE_CHECKING:
    from collections.abc import Callable

    Rows = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

nn = torch.nn
LOSS = nn.functional.cross_entropy
SECONDS = 2.0
PEOPLE = {"cpu": 99, "cuda": 599}
TIMED = {"cpu": 199, "cuda": 4096}
FORCED = {
    "DEFAULT": {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE", "ONEDNN_MAX_CPU_ISA": "SSE41"},
    "AVX2": {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2"},
    "AVX512": {"ATEN_CPU_CAPABILITY": "avx512", "MKL_CBWR": "AVX512"},
}
THREADS = {"as it comes": [1, 2, 3, 4, 5], "DEFAULT": [1, 2, 5], "AVX2": [1, 3], "AVX512": [1, 2]}


def _rectified() -> nn.Module:
    """The paper's network, 26,010 parameters."""
    return nn.Sequential(*(nn.ReLU() if isinstance(each, nn.Tanh) else each for each in tanh_cnn().children()))


def _layers() -> nn.Module:
    return nn.Sequential(nn.Linear(100, 300), nn.ReLU(), nn.Linear(300, 77), nn.ReLU(), nn.Linear(77, 10))


del networks.NETWORKS["recurrent"]  # for which torch's own way has no rows on a GPU
networks.NETWORKS |= {"the paper's": (_rectified, (1, 28, 28)), "100-300-77-10": (_layers, (100,))}


def _torchs(network: nn.Module) -> Rows:
    """Torch's own gradients of all people at once, in the type of the network."""
    trained = dict(network.named_parameters())

    def of_one(numbers: dict[str, torch.Tensor], x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return LOSS(functional_call(network, numbers, (x[None],)), y[None])

    many = vmap(grad(of_one), in_dims=(None, 0, 0))

    def rows(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.cat([each.detach().flatten(1) for each in many(trained, x, y).values()], dim=1)

    return rows


def here(device: str, threads: list[int]) -> dict[str, Any]:
    """By network: rows that changed under any of these threads, ours and torch's, and a digest of ours."""
    found = {}
    for name in networks.NETWORKS:
        network, shape = networks.made(name, torch.float32)
        network, rows = network.to(device), networks.rows_of(network.to(device))
        features, labels = (each.to(device) for each in networks.people_of(shape, PEOPLE[device] + 5, torch.float32))
        people, ours, theirs, digests = PEOPLE[device], 0, 0, set()
        for count in threads:
            torch.set_num_threads(count)
            theirs = max(theirs, changed(_torchs(network), features, labels, people))
            odd = features.clone()
            if shape != (5,):  # words are whole numbers
                odd[-3:] = torch.tensor([1e30, float("inf"), float("nan")]).view(3, *[1] * len(shape))
            ours = max(ours, changed(rows, odd, labels, people))
            bits = rows(features[:people], labels[:people]).cpu().numpy() + 0.0
            digests.add(hashlib.sha256(bits.tobytes()).hexdigest()[:12])
        found[name] = {"ours": ours, "torch": theirs, "digest": "/".join(sorted(digests))}
    return found


def speeds(device: str) -> list[str]:
    """Rows a second, on a CPU of one thread and a CPU-second."""
    torch.set_num_threads(1)
    lines = [
        "| network | rows a second | clipped and summed | torch, float32 | torch, float64 |",
        "|---|--:|--:|--:|--:|",
    ]
    for name in networks.NETWORKS:
        network, shape = networks.made(name, torch.float32)
        features, labels = networks.people_of(shape, TIMED[device], torch.float32)
        gradients, x, y = PerExample(network.to(device), LOSS), features.to(device).relu(), labels.to(device)
        rates = [
            _rate(lambda: list(gradients.blocks(x, y)), x),  # noqa: B023 (called at once)
            _rate(lambda: gradients.clipped_sum(x, y, 1.0, 2**20), x),  # noqa: B023
        ]
        for kind in (torch.float32, torch.float64):
            rows, some = _torchs(network.to(kind)), x[:256].to(kind)
            rates.append(_rate(lambda: rows(some, y[:256]), some))  # noqa: B023
        lines.append(f"| {name} | " + " | ".join(f"{rate:,.0f}" for rate in rates) + " |")
        print(lines[-1], file=sys.stderr, flush=True)
    return lines


def _rate(compute: Callable[[], object], people: torch.Tensor) -> float:
    if people.is_cuda:

        def now() -> float:
            torch.cuda.synchronize()
            return time.perf_counter()
    else:
        now = time.process_time
    compute()
    began, done = now(), 0
    while now() - began < SECONDS:
        compute()
        done += len(people)
    return done / (now() - began)


def _elsewhere(arguments: list[str], environment: dict[str, str]) -> dict[str, Any]:
    done = subprocess.run(  # noqa: S603 (this script itself)
        [sys.executable, __file__, *arguments],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> int:
    """Compare under every setting, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--here", help=argparse.SUPPRESS)
    parser.add_argument("--speed", action="store_true", help="measure speed alone")
    told = parser.parse_args()
    if told.here:
        print(json.dumps(here(told.device, json.loads(told.here))))
        return 0
    if told.speed:
        print(*speeds(told.device), sep="\n")
        return 0
    known = torch.backends.cpu.get_cpu_capability()
    forced = dict(list(FORCED.items())[: list(FORCED).index(known) + 1]) if known in FORCED else {}
    settings = {"as it comes": {}, **({} if told.device == "cuda" else forced)}
    machine = torch.cuda.get_device_name() if told.device == "cuda" else f"{platform.machine()}, {known}"
    print(f"{machine}, torch {torch.__version__}, Python {platform.python_version()}; {PEOPLE[told.device]} people\n")
    print("| setting | threads | " + " | ".join(networks.NETWORKS) + " |\n|---|---|" + "---|" * len(networks.NETWORKS))
    digests: dict[str, set[str]] = {}
    failed = False
    for name, environment in settings.items():
        threads = THREADS[name] if told.device == "cpu" else [1]
        found = _elsewhere(["--device", told.device, "--here", json.dumps(threads)], environment)
        for network, each in found.items():
            digests.setdefault(network, set()).add(each["digest"])
            failed |= each["ours"] != 0
        cells = " | ".join(f"{each['ours']} ({each['torch']})" for each in found.values())
        print(f"| {name} | {', '.join(map(str, threads))} | {cells} |", flush=True)
    same = all(len(each) == 1 and "/" not in next(iter(each)) for each in digests.values())
    print("\nRows that changed, and in brackets those of torch's own gradients in float32.")
    print(f"Bits are {'' if same else 'NOT '}the same under all settings.\n")
    print(*speeds(told.device), sep="\n")
    return int(failed or not same)


if __name__ == "__main__":
    sys.exit(main())
