"""Compare the gradients of people on a CPU to the last bit while others come and go, and count rows a CPU-second.

``python bench/rows.py [LOG]`` runs itself under every setting below: instruction sets that torch, MKL, oneDNN and numba
can be forced to, and one to five threads. Each removes, adds, moves and reorders 199 made-up people. Compiled rows and
exact products must not change, and must have the same bits under all settings; torch's own gradients show what the
comparison can find. Last, speed on one thread, and whether the compiled code holds a fused instruction.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from bipartite.learn import PerExample
from bipartite.learn.gradients.any_network import AnyNetwork
from bipartite.learn.gradients.compiled_rows import CompiledRows
from bipartite.learn.gradients.exact_products import ExactProducts
from bipartite.learn.gradients.layers import modules_of, shaped
from rows_gpu import LOSS, NETWORKS, changed

PEOPLE = 199
SECONDS = 3.0
SETTINGS: dict[str, tuple[dict[str, str], list[int]]] = {
    "as it comes": ({}, [1, 2, 3, 4, 5]),
    "ATEN default, MKL COMPATIBLE, oneDNN SSE41": (
        {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE", "ONEDNN_MAX_CPU_ISA": "SSE41"},
        [1, 2, 5],
    ),
    "ATEN avx2, MKL AVX2, oneDNN AVX2": (
        {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2"},
        [1, 3],
    ),
    "ATEN avx512, MKL AVX512": ({"ATEN_CPU_CAPABILITY": "avx512", "MKL_CBWR": "AVX512"}, [1, 2]),
    "numba generic (SSE2)": ({"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}, [1, 2]),
    "numba haswell (AVX2 and FMA)": ({"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma"}, [1, 4]),
}


def made(name: str) -> tuple[torch.nn.Module, torch.Tensor, torch.Tensor]:
    """A network and people whose numbers come from NumPy: torch's own draws differ with its instructions."""
    make, shape = NETWORKS[name]
    network, random = make(), np.random.default_rng(1)
    with torch.no_grad():
        for each in network.parameters():
            scale = (each.numel() // each.shape[0]) ** -0.5
            each.copy_(torch.from_numpy(random.uniform(-scale, scale, tuple(each.shape))))
    features = torch.from_numpy(random.uniform(-2, 2, (PEOPLE + 30, *shape))).float()
    for at, value in enumerate((1e30, -1e-30, float("inf"), float("nan")), PEOPLE):
        features[at] = value
    return network, features, torch.from_numpy(random.integers(0, 10, PEOPLE + 30))


def ways(network: torch.nn.Module, shape: tuple[int, ...]) -> dict[str, CompiledRows | ExactProducts | AnyNetwork]:
    """Both that are proved, and torch's own."""
    layers, trained = shaped(modules_of(network), shape), list(network.parameters())
    return {
        "compiled rows": CompiledRows(layers, trained),
        "exact products": ExactProducts(layers, trained),
        "torch": AnyNetwork(network, LOSS, trained),
    }


def here(threads: list[int]) -> dict[str, dict[str, object]]:
    """By network and way: the most rows that changed in an arrangement, under any of these threads, and a digest."""
    found: dict[str, dict[str, object]] = {}
    for name in NETWORKS:
        network, features, labels = made(name)
        for way, rows in ways(network, tuple(features.shape[1:])).items():
            most, digests = 0, set()
            for count in threads:
                torch.set_num_threads(count)
                most = max(most, *changed(rows.rows, features, labels, PEOPLE).values())
                bits = rows.rows(features[:PEOPLE], labels[:PEOPLE]).numpy() + 0.0
                digests.add(hashlib.sha256(bits.tobytes()).hexdigest()[:12])
            found[f"{name} | {way}"] = {"changed": most, "digest": "/".join(sorted(digests))}
    return found


def speeds() -> list[str]:
    """Rows a CPU-second on one thread; torch in blocks of 256, float32."""
    torch.set_num_threads(1)
    lines = ["| network | way | rows a CPU-second | clipped and summed |", "|---|---|---|---|"]
    for name in NETWORKS:
        network, features, labels = made(name)
        x, y = features[:PEOPLE].relu(), labels[:PEOPLE]
        summed = {"compiled rows": f"{_rate(lambda: PerExample(network, LOSS).clipped_sum(x, y, 1.0, 2**20)):,.0f}"}  # noqa: B023
        for way, rows in ways(network, tuple(features.shape[1:])).items():
            rate = _rate(lambda: rows.rows(x, y))  # noqa: B023
            lines.append(f"| {name} | {way} | {rate:,.0f} | {summed.get(way, '')} |")
    return lines


def _rate(compute: object) -> float:
    assert callable(compute)
    compute()
    began, done = time.process_time(), 0
    while time.process_time() - began < SECONDS:
        compute()
        done += PEOPLE
    return done / (time.process_time() - began)


def fused() -> str:
    """Whether the machine code of the kernels holds a fused multiply-add, where the processor has one."""
    from bipartite.learn.gradients.compiled_kernels import clipped_sum, gradients

    text = "".join(code for each in (gradients, clipped_sum) for code in each.inspect_asm().values())
    return f"{text.count('mulpd') + text.count('mulsd')} multiplications, {text.count('vfmadd')} fused ones"


def _about() -> str:
    return (
        f"{platform.processor() or platform.machine()}, torch {torch.__version__}; {PEOPLE} made-up people, the most "
        "rows that changed in any bit in one of eight arrangements (`python bench/rows.py`)."
    )


def main() -> int:
    """Run under every setting, and write."""
    if sys.argv[1:2] == ["--here"]:
        print(json.dumps({"rows": here(json.loads(sys.argv[2])), "fused": fused() if "asm" in sys.argv else ""}))
        return 0
    lines = [
        "# Rows on a CPU",
        "",
        _about(),
        "",
        "| setting | threads | compiled rows | exact products | torch, float32, not proved |",
        "|---|---|---|---|---|",
    ]
    digests: dict[str, set[object]] = {}
    failed, said = False, ""
    for name, (environment, threads) in SETTINGS.items():
        with tempfile.TemporaryDirectory() as cache:
            extra = {"NUMBA_CACHE_DIR": cache} if name == "as it comes" else {}
            command = [sys.executable, __file__, "--here", json.dumps(threads), *(["asm"] if extra else [])]
            done = subprocess.run(  # noqa: S603 (this script itself)
                command, env=os.environ | environment | extra, capture_output=True, text=True, check=False
            )
        if done.returncode:
            print(done.stderr)
            return 1
        told = json.loads(done.stdout.splitlines()[-1])
        said = told["fused"] or said
        by_way: dict[str, list[str]] = {}
        for key, each in told["rows"].items():
            way = key.split(" | ")[1]
            by_way.setdefault(way, []).append(str(each["changed"]))
            if way != "torch":
                failed |= each["changed"] != 0
                digests.setdefault(key, set()).add(each["digest"])
        cells = [", ".join(by_way[way]) for way in ("compiled rows", "exact products", "torch")]
        lines.append(f"| {name} | {', '.join(map(str, threads))} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    same = all(len(each) == 1 for each in digests.values())
    lines += [
        "",
        f"Numbers are for, in this order: {'; '.join(NETWORKS)}.",
        "",
        f"Bits of compiled rows and of exact products are {'' if same else 'NOT '}the same under all settings.",
        f"In the machine code: {said}.",
        "",
        *speeds(),
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text, encoding="utf-8")
    return int(failed or not same)


if __name__ == "__main__":
    sys.exit(main())
