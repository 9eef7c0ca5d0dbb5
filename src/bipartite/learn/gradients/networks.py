"""Networks for pictures of 28 × 28 points and ten classes, and settings to train them with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import torch

from bipartite.errors import InputError, Problems
from bipartite.learn.gradients.central import GaussianSGD
from bipartite.learn.gradients.checks import positive


def tanh_cnn() -> torch.nn.Module:
    """The paper's network with tanh, which keeps gradients small and so learns more under clipping and noise.

    Papernot et al.: *Tempered Sigmoid Activations for Deep Learning with Differential Privacy* (AAAI 2021). 26,010
    parameters, for pictures of shape 1 × 28 × 28 and ten classes.
    """
    return torch.nn.Sequential(
        torch.nn.ZeroPad2d(3),  # "same" at stride 2: 28 → 14
        torch.nn.Conv2d(1, 16, 8, stride=2),
        torch.nn.Tanh(),
        torch.nn.MaxPool2d(2, stride=1),
        torch.nn.Conv2d(16, 32, 4, stride=2),
        torch.nn.Tanh(),
        torch.nn.MaxPool2d(2, stride=1),
        torch.nn.Flatten(),
        torch.nn.Linear(512, 32),
        torch.nn.Tanh(),
        torch.nn.Linear(32, 10),
    )


@dataclass(frozen=True)
class _Setting:
    batch: int
    epochs: int
    learning_rate: float


# For a small and for a larger ε: found by training on 50,000 pictures of MNIST and looking at 10,000 others.
_SMALL: Final = _Setting(1024, 15, 1.4)
_LARGE: Final = _Setting(2048, 30, 4.0)
_LARGE_FROM: Final = 2.0
_CLIP: Final = 0.1
_MOMENTUM: Final = 0.9


@dataclass(frozen=True)
class PicturePlan:
    """Settings of :class:`GaussianSGD` for ``tanh_cnn`` on pictures like MNIST's, for an ε and a δ.

    Clipping to 0.1 and momentum 0.9 always. Below ε = 2 samples of about 1,024 people, 15 epochs and learning rate 1.4;
    from there on 2,048, 30 and 4. These settings were chosen on 10,000 training pictures of MNIST that were held out,
    after (x/255 − 0.1307)/0.3081: no ε covers that choice for these pictures. For your own data they are public.
    """

    epsilon: float
    delta: float = 1e-5

    def __post_init__(self) -> None:
        problems = Problems()
        positive("epsilon", self.epsilon, problems)
        problems.raise_if_any(InputError)

    @property
    def _setting(self) -> _Setting:
        return _SMALL if self.epsilon < _LARGE_FROM else _LARGE

    def for_people(self, people: int, noise_multiplier: float | None = None) -> GaussianSGD:
        """The plan for a public number of people; ``noise_multiplier`` where it was computed before."""
        setting = self._setting
        steps = math.ceil(setting.epochs * people / setting.batch)
        epsilon = self.epsilon if noise_multiplier is None else None
        return GaussianSGD(epsilon, self.delta, _CLIP, steps, min(1.0, setting.batch / people), noise_multiplier)

    def optimizer(self, parameters: list[torch.nn.Parameter]) -> torch.optim.Optimizer:
        """The optimiser of these settings."""
        return torch.optim.SGD(parameters, lr=self._setting.learning_rate, momentum=_MOMENTUM)
