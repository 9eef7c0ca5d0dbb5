"""Scattering: fixed features of pictures, in which small shifts hardly matter, and which no data chose.

A picture is filtered by Morlet wavelets of two sizes and eight directions; of each result the modulus is taken, which
is filtered again by the larger wavelets; all of them are smoothed and thinned out to 7 × 7 points: 1 + 16 + 64 = 81
channels (Bruna and Mallat: *Invariant Scattering Convolution Networks*, TPAMI 2013). Tramèr and Boneh, *Differentially
Private Learning Needs Better Features* (ICLR 2021), train linear models on them.

Fourier transforms here are :mod:`exact products <bipartite.learn.gradients.exact_numbers>`: a library's transform of a
batch may compute one person's numbers differently in other company, and then the promise of SGD about one record would
not hold for pictures. Filters are those of Kymatio, which is not needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from bipartite.errors import InputError
from bipartite.learn.gradients.exact_numbers import bits_for, must_keep_subnormals, scaled, square_root, whole
from bipartite.learn.scikit import BaseEstimator, TransformerMixin

_SIDE: Final = 28
_PADDED: Final = 36
_DIRECTIONS: Final = 8
_CHANNELS: Final = 1 + 2 * _DIRECTIONS + _DIRECTIONS**2
_TOGETHER: Final = {"cpu": 8, "cuda": 1024}


@dataclass(eq=False, repr=False)
class Scattering(TransformerMixin, BaseEstimator):
    """81 channels of 7 × 7 numbers for each picture of 28 × 28 points: a fixed function of that picture alone.

    ``device`` is where it is computed: ``"cpu"`` or a GPU that torch knows.

    Examples
    --------
    >>> import numpy as np
    >>> from reproduction.learning.scattering import Scattering
    >>> Scattering().transform(np.zeros((2, 28, 28))).shape
    (2, 81, 7, 7)
    """

    device: str = "cpu"

    def fit(self, X: object, y: object = None) -> Scattering:  # noqa: ARG002, N803 (scikit-learn's)
        """Nothing: filters are fixed."""
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float32]:  # noqa: N803
        """The features of each picture, given as 784 numbers or 28 × 28 of them."""
        try:
            pictures = np.ascontiguousarray(X, dtype=np.float64).reshape(-1, _SIDE, _SIDE)
            fits = len(pictures) == np.shape(X)[0]
        except (TypeError, ValueError, IndexError):  # which would show a value
            fits = False
        if not fits:
            raise InputError("Expected X as pictures of 28 × 28 points, a row of 784 numbers each; got something else.")
        must_keep_subnormals()
        parts = torch.split(torch.from_numpy(pictures), _TOGETHER.get(torch.device(self.device).type, 8))
        found = [_scattered(each.to(self.device)).float().cpu().numpy() for each in parts if len(each)]
        return np.concatenate([np.zeros((0, _CHANNELS, 7, 7), dtype=np.float32), *found])

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _scattered(pictures: torch.Tensor) -> torch.Tensor:
    around = torch.tensor(np.pad(np.arange(_SIDE), (_PADDED - _SIDE) // 2, mode="reflect"), device=pictures.device)
    wide, narrow, small, low = _filters(pictures.device)
    seen = _spectra(pictures[:, None, around][..., around])
    first = _spectra(_modulus(seen * wide))
    second = _spectra(_modulus(_thinned(seen * narrow)))
    deep = _spectra(_modulus(_thinned(first[:, :, None] * narrow).flatten(1, 2)))
    parts = [_smoothed(each, low) for each in (seen, first)] + [_smoothed(each, small) for each in (second, deep)]
    return torch.cat(parts, dim=1)[:, :, 1:-1, 1:-1]


def _spectra(real: torch.Tensor) -> torch.Tensor:
    return _transformed(torch.stack([real, torch.zeros_like(real)], dim=2))


def _modulus(spectra: torch.Tensor) -> torch.Tensor:
    pairs = _transformed(spectra, back=True)
    return square_root(pairs[:, :, 0] * pairs[:, :, 0] + pairs[:, :, 1] * pairs[:, :, 1])


def _thinned(spectra: torch.Tensor) -> torch.Tensor:
    """Every other point in both directions, as a spectrum: the mean of its four quarters."""
    half = spectra.shape[-1] // 2
    rows = spectra[..., :half, :] + spectra[..., half:, :]
    return (rows[..., :half] + rows[..., half:]) * 0.25


def _smoothed(spectra: torch.Tensor, low: torch.Tensor) -> torch.Tensor:
    """Averaged over neighbours, and thinned out to 9 × 9 points."""
    found = spectra * low
    while found.shape[-1] > _PADDED // 4:
        found = _thinned(found)
    return _transformed(found, back=True)[:, :, 0]


def _transformed(pairs: torch.Tensor, *, back: bool = False) -> torch.Tensor:
    """The Fourier transform of squares of complex numbers, given as real and imaginary part: two exact products."""
    side = pairs.shape[-1]
    matrix, (p, q) = _fourier(side, back=back).to(pairs.device), bits_for(2 * side)
    for _ in range(2):
        flat = pairs.transpose(2, 3).flatten(3)  # person, channel, row, both parts of all columns
        (rows, by_person), (columns, by_matrix) = whole(flat, [1, 2, 3], p), whole(matrix, [0, 1], q)
        found = scaled(rows @ columns, by_person, by_matrix)
        pairs = found.view(*found.shape[:3], 2, side).permute(0, 1, 3, 4, 2)  # columns become rows
    return pairs


@cache
def _fourier(side: int, *, back: bool) -> torch.Tensor:
    """The matrix that transforms a row: real and imaginary parts side by side."""
    angles = 2 * np.pi * (np.outer(np.arange(side), np.arange(side)) % side) / side
    cosines, sines = np.cos(angles), np.sin(angles) if back else -np.sin(angles)
    matrix = np.block([[cosines, sines], [-sines, cosines]])
    return torch.from_numpy(matrix / side if back else matrix)


@cache
def _filters(device: torch.device) -> tuple[torch.Tensor, ...]:
    """Spectra: small wavelets, large ones, the smoothing filter for 18 × 18 points and for 36 × 36."""
    turns = [(3 - turn) * np.pi / _DIRECTIONS for turn in range(_DIRECTIONS)]
    wide, narrow = (
        np.stack([_morlet(0.8 * 2**size, turn, 0.75 * np.pi / 2**size) for turn in turns])[:, None] for size in (0, 1)
    )
    low = np.fft.fft2(_bell(1.6, 0, 0, 1.0))
    half = _PADDED // 2
    cut = low.copy()
    cut[half // 2 : half // 2 + half] = 0
    cut[:, half // 2 : half // 2 + half] = 0
    small = cut[:half, :half] + cut[half:, :half] + cut[:half, half:] + cut[half:, half:]
    return tuple(torch.from_numpy(np.ascontiguousarray(each.real)).to(device) for each in (wide, narrow, small, low))


def _morlet(sigma: float, turn: float, frequency: float) -> NDArray[np.complex128]:
    """The spectrum of a wave under a bell, less so much of the bell that its mean is zero."""
    slant = 4 / _DIRECTIONS
    wave, bell = _bell(sigma, turn, frequency, slant), _bell(sigma, turn, 0, slant)
    return np.fft.fft2(wave - wave.sum() / bell.sum() * bell)


def _bell(sigma: float, turn: float, frequency: float, slant: float) -> NDArray[np.complex128]:
    """A Gaussian bell times a wave, around a square of 36 × 36 points that repeats itself."""
    total = np.zeros((_PADDED, _PADDED), dtype=np.complex128)
    for down in range(-2, 3):
        for across in range(-2, 3):
            y, x = np.mgrid[:_PADDED, :_PADDED] + np.array([down, across])[:, None, None] * _PADDED
            along, beside = y * np.cos(turn) + x * np.sin(turn), x * np.cos(turn) - y * np.sin(turn)
            total += np.exp(-(along**2 + (slant * beside) ** 2) / (2 * sigma**2) + 1j * frequency * along)
    return total / (2 * np.pi * sigma**2 / slant)
