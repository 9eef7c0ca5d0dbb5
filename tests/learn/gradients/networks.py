"""Networks of all kinds of layers, and people to compute gradients of."""

import numpy as np
import torch
from torch import nn

from bipartite.learn import PerExample, tanh_cnn


class Residual(nn.Module):
    """A picture that goes round its convolutions, and a dense layer that is used twice."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(2, 4, 3, padding=1)
        self.within = nn.Sequential(nn.GroupNorm(2, 4), nn.ReLU(inplace=True), nn.Conv2d(4, 4, 3, padding=1, groups=2))
        self.twice, self.last = nn.Linear(4, 4), nn.Linear(4, 10)

    def forward(self, x):
        x = self.first(x)
        x = (x + self.within(x)).mean((2, 3))
        return self.last(x + self.twice(torch.tanh(self.twice(x))))


class Transformer(nn.Module):
    """Words, or strips of a picture: looked up or projected, attended to, averaged."""

    def __init__(self, *, words, activation="gelu"):
        super().__init__()
        self.words = words
        self.embedding = nn.Embedding(30, 8, padding_idx=0) if words else nn.Linear(6, 8)
        self.place = nn.Parameter(torch.zeros(5, 8))
        self.layer = nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0, activation=activation, batch_first=True)
        self.last = nn.Linear(8, 10)

    def forward(self, x):
        return self.last(self.layer(self.embedding(x.long() if self.words else x) + self.place).mean(1))


class Causal(nn.Module):
    """Attention to what came before, RMS norm, a line of convolutions, and look-ups by index."""

    def __init__(self):
        super().__init__()
        self.line = nn.Conv1d(3, 6, 3, padding=1)
        self.scale, self.table = nn.Parameter(torch.ones(6)), nn.Parameter(torch.ones(4, 6))
        self.project, self.last = nn.Linear(6, 18), nn.Linear(6, 10)

    def forward(self, x):
        x = self.line(x).transpose(1, 2) + self.table[torch.tensor([3, 1, 1, 0, 3, 3, 2], device=x.device)]
        x = x * torch.rsqrt((x**2).mean(-1, keepdim=True) + 1e-6) * self.scale
        queries, keys, values = self.project(x).chunk(3, dim=-1)
        x = x + nn.functional.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        return self.last(x.amax(1))


class Moved(nn.Module):
    """Pictures whose numbers lie in memory in other orders than their axes say."""

    def __init__(self):
        super().__init__()
        self.picture, self.line, self.last = nn.Conv2d(3, 4, 3), nn.Conv1d(6, 5, 2), nn.Linear(10, 10)

    def forward(self, x):
        x = self.picture(x.permute(0, 3, 1, 2))
        x = nn.functional.max_pool2d(x, 2, stride=1).transpose(2, 3).flatten(1, 2)[:, :, ::2]
        return self.last(self.line(x[:, :6].transpose(1, 2).contiguous().transpose(1, 2)).flatten(1)[:, :10])


class Recurrent(nn.Module):
    """Gates and states from step to step, a norm of each vector, activations with weights."""

    def __init__(self):
        super().__init__()
        self.long, self.gated = nn.LSTM(4, 5, batch_first=True), nn.GRU(5, 6, batch_first=True)
        self.norm, self.last = nn.InstanceNorm1d(3, affine=True), nn.Linear(18, 10)
        self.within = nn.Sequential(
            nn.ELU(), nn.PReLU(), nn.Mish(), nn.SELU(), nn.Hardsigmoid(), nn.Hardswish(), nn.Softplus(), nn.Softsign()
        )

    def forward(self, x):
        x, _ = self.gated(self.long(x)[0])
        x = nn.functional.pad(self.norm(x), (3, 3), mode="reflect")
        x = nn.functional.normalize(nn.functional.glu(x), dim=2)
        return self.last(self.within(x).flatten(1))


NETWORKS = {
    "every layer": (
        lambda: nn.Sequential(
            nn.Conv2d(2, 6, 3, padding=1, stride=2), nn.GroupNorm(2, 6), nn.SiLU(), nn.AvgPool2d(2, stride=1),
            nn.Tanh(), nn.Conv2d(6, 5, (2, 3), padding=(1, 1), stride=(1, 2)), nn.Sigmoid(), nn.ZeroPad2d((0, 1, 1, 0)),
            nn.MaxPool2d(2), nn.GELU("tanh"), nn.Flatten(), nn.Linear(10, 7, bias=False), nn.LayerNorm(7), nn.ReLU(),
            nn.Sequential(nn.Linear(7, 10), nn.Identity()),
        ),
        (2, 7, 9),
    ),
    "from a row to a picture": (
        lambda: nn.Sequential(
            nn.Unflatten(1, (1, 6, 6)), nn.Conv2d(1, 4, 3, padding="same", bias=False), nn.Tanh(),
            nn.MaxPool2d(3, stride=2, padding=1), nn.GroupNorm(2, 4, affine=False), nn.AvgPool2d(2, padding=1),
            nn.Flatten(), nn.Linear(16, 10),
        ),
        (36,),
    ),
    "33 to 17": (lambda: nn.Linear(33, 17), (33,)),
    "601 to 10": (lambda: nn.Sequential(nn.Linear(601, 10)), (601,)),
    "dense": (
        lambda: nn.Sequential(
            nn.Linear(20, 31), nn.ReLU(), nn.Linear(31, 13), nn.SiLU(), nn.Linear(13, 10), nn.Hardtanh(), nn.LeakyReLU()
        ),
        (20,),
    ),
    "residual": (Residual, (2, 5, 6)),
    "transformer": (lambda: Transformer(words=False), (5, 6)),
    "words": (lambda: Transformer(words=True, activation="relu"), (5,)),
    "causal": (Causal, (3, 7)),
    "moved": (Moved, (8, 9, 3)),
    "recurrent": (Recurrent, (3, 4)),
    "pictures": (tanh_cnn, (1, 28, 28)),
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
    if shape == (5,):  # words
        features = random.integers(0, 30, (count, *shape))
    return torch.from_numpy(features).to(kind), torch.from_numpy(random.integers(0, 10, count))


def rows_of(network, loss=nn.functional.cross_entropy):
    """The rows that the library computes."""
    gradients = PerExample(network, loss)
    return lambda features, labels: torch.cat(list(gradients.blocks(features, labels)))


def one_by_one(network, features, labels, loss=nn.functional.cross_entropy):
    """The oracle: torch's own gradient of one person at a time."""
    rows = []
    for x, y in zip(features, labels, strict=True):
        network.zero_grad()
        loss(network(x[None]), y[None]).backward()
        rows.append(torch.cat([each.grad.flatten() for each in network.parameters() if each.requires_grad]))
    network.zero_grad()
    return torch.stack(rows)
