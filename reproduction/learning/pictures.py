"""The paper's network for pictures of 28 × 28 points and ten classes."""

from __future__ import annotations

import torch

from bipartite.learn import tanh_cnn


def paper_cnn() -> torch.nn.Module:
    """The paper's network for 28 × 28 pictures and ten classes: 26,010 parameters.

    Conv16(8×8, stride 2, same) – pool(2, stride 1) – Conv32(4×4, stride 2, valid) – pool(2, stride 1) – Dense32 –
    Dense10, with rectifiers; pools take the largest. The library's ``tanh_cnn`` is this network with tanh.
    """
    layers = tanh_cnn().children()
    return torch.nn.Sequential(*(torch.nn.ReLU() if isinstance(each, torch.nn.Tanh) else each for each in layers))
