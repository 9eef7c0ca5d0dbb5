"""Networks of the experiments."""

from __future__ import annotations

import torch


def paper_cnn() -> torch.nn.Module:
    """The paper's network for 28 × 28 pictures and ten classes: 26,010 parameters.

    Conv16(8×8, stride 2, same) – pool(2, stride 1) – Conv32(4×4, stride 2, valid) – pool(2, stride 1) – Dense32 –
    Dense10, with rectifiers; pools take the largest.
    """
    return torch.nn.Sequential(
        torch.nn.ZeroPad2d(3),  # "same" at stride 2: 28 → 14
        torch.nn.Conv2d(1, 16, 8, stride=2),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2, stride=1),
        torch.nn.Conv2d(16, 32, 4, stride=2),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2, stride=1),
        torch.nn.Flatten(),
        torch.nn.Linear(512, 32),
        torch.nn.ReLU(),
        torch.nn.Linear(32, 10),
    )
