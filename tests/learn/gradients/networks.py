"""Networks that between them use every known layer, and people to compute gradients of."""

import numpy as np
import torch
from torch import nn

from bipartite.learn import paper_cnn
from bipartite.learn.gradients.compiled_rows import CompiledRows
from bipartite.learn.gradients.exact_products import ExactProducts
from bipartite.learn.gradients.layers import modules_of, shaped

NETWORKS = {
    "every layer": (
        lambda: nn.Sequential(
            nn.Conv2d(2, 6, 3, padding=1, stride=2), nn.GroupNorm(2, 6), nn.SiLU(), nn.AvgPool2d(2, stride=1),
            nn.Tanh(), nn.Conv2d(6, 5, (2, 3), padding=(1, 1), stride=(1, 2)), nn.Sigmoid(), nn.ZeroPad2d((0, 1, 1, 0)),
            nn.MaxPool2d(2), nn.GELU("tanh"), nn.Flatten(), nn.Linear(10, 7, bias=False), nn.GroupNorm(1, 7), nn.ReLU(),
            nn.Sequential(nn.Linear(7, 10), nn.Identity()),
        ),
        (2, 7, 9),
    ),
    "from a row to a picture": (
        lambda: nn.Sequential(
            nn.Unflatten(1, (1, 6, 6)), nn.Conv2d(1, 4, 3, padding="same", bias=False), nn.Tanh(),
            nn.MaxPool2d(3, stride=2), nn.GroupNorm(2, 4, affine=False), nn.Flatten(), nn.Linear(16, 10),
        ),
        (36,),
    ),
    "33 to 17": (lambda: nn.Linear(33, 17), (33,)),
    "601 to 10": (lambda: nn.Sequential(nn.Linear(601, 10)), (601,)),
    "dense": (
        lambda: nn.Sequential(nn.Linear(20, 31), nn.ReLU(), nn.Linear(31, 13), nn.SiLU(), nn.Linear(13, 10)),
        (20,),
    ),
    "the paper's": (paper_cnn, (1, 28, 28)),
}  # fmt: skip


def made(name, kind=torch.float64):
    """A network with weights from NumPy: torch's own draws differ with its instructions."""
    make, shape = NETWORKS[name]
    network, random = make().to(kind), np.random.default_rng(1)
    with torch.no_grad():
        for each in network.parameters():
            scale = (each.numel() // each.shape[0]) ** -0.5
            each.copy_(torch.from_numpy(random.uniform(-scale, scale, tuple(each.shape))))
    return network, shape


def people_of(shape, count, kind=torch.float64):
    """Half of their numbers of both signs, half with many zeros, as pictures have."""
    random = np.random.default_rng(2)
    features = random.uniform(-2, 2, (count, *shape))
    features[::2] = np.maximum(features[::2], 0)
    return torch.from_numpy(features).to(kind), torch.from_numpy(random.integers(0, 10, count))


def ways(network, shape):
    """Both ways for which independence is proved."""
    layers, trained = shaped(modules_of(network), shape), [each for each in network.parameters() if each.requires_grad]
    return {"compiled": CompiledRows(layers, trained), "exact": ExactProducts(layers, trained)}


def one_by_one(network, features, labels, loss=nn.functional.cross_entropy):
    """The oracle: torch's own gradient of one person at a time."""
    rows = []
    for x, y in zip(features, labels, strict=True):
        network.zero_grad()
        loss(network(x[None]), y[None]).backward()
        rows.append(torch.cat([each.grad.flatten() for each in network.parameters() if each.requires_grad]))
    network.zero_grad()
    return torch.stack(rows)
