"""Scattering features, against NumPy's Fourier transform of one picture at a time."""

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from bipartite.errors import InputError
from reproduction.learning import scattering
from reproduction.learning.scattering import Scattering

PICTURES = np.random.default_rng(4).random((4, 28, 28)) * (np.random.default_rng(5).random((4, 28, 28)) < 0.3)

# By channel, row and column.
KYMATIO = {
    (0, 3, 3): 0.7814979, (0, 1, 2): 0.0007336, (1, 3, 3): 0.0557557, (4, 2, 4): 0.1120766, (8, 3, 2): 0.0370693,
    (9, 3, 3): 0.0831411, (12, 4, 4): 0.1102606, (16, 2, 3): 0.0744202, (17, 3, 3): 0.0155798, (40, 3, 4): 0.0023122,
    (80, 2, 2): 0.0200174,
}  # fmt: skip


def by_definition(picture):
    """By NumPy, one picture: filters in full size, points left out afterwards."""
    wide, narrow, small, low = (np.squeeze(each.numpy()) for each in scattering._filters(torch.device("cpu")))

    def filtered(signal, spectrum, step=1):
        return np.fft.ifft2(np.fft.fft2(signal) * spectrum)[::step, ::step]

    padded = np.pad(picture, 4, mode="reflect")
    first = [np.abs(filtered(padded, each)) for each in wide]
    second = [np.abs(filtered(padded, each, 2)) for each in narrow]
    deep = [np.abs(filtered(each, spectrum, 2)) for each in first for spectrum in narrow]
    smooth = [filtered(each, low, 4) for each in (padded, *first)]
    smooth += [filtered(each, small, 2) for each in (*second, *deep)]
    return np.stack(smooth).real[:, 1:-1, 1:-1]


def test_features_are_those_of_the_definition_and_of_kymatio():
    found = Scattering().transform(PICTURES)
    assert found.shape == (4, 81, 7, 7) and found.dtype == np.float32
    np.testing.assert_allclose(found, [by_definition(each) for each in PICTURES], atol=2e-6)
    # Kymatio 0.3.0 (NumPy, J = 2, L = 8) of a bright rectangle; it has π = 3.1415 and single precision.
    picture = np.zeros((1, 28, 28))
    picture[0, 8:15, 11:20] = 1
    np.testing.assert_allclose(
        [Scattering().transform(picture)[0][at] for at in KYMATIO], [*KYMATIO.values()], atol=3e-5
    )


def test_no_picture_changes_the_features_of_another(monkeypatch):
    together, spoiled, others = Scattering().transform(PICTURES), PICTURES.copy(), [0, 1, 3]
    spoiled[2] = np.nan
    for size in (1, 3):
        monkeypatch.setattr(scattering, "_TOGETHER", {"cpu": size})
        assert (Scattering().transform(PICTURES[::-1])[::-1] == together).all()
        assert (Scattering().transform(spoiled)[others] == together[others]).all()
        assert (Scattering().transform(PICTURES[1:2]) == together[1:2]).all()


def test_it_is_a_transformer_that_needs_no_fit():
    step, rows = clone(Scattering()), PICTURES.reshape(4, -1)
    assert (make_pipeline(step).fit_transform(rows) == step.transform(PICTURES[:, None])).all()
    assert step.transform(rows[:0]).shape == (0, 81, 7, 7)


@pytest.mark.parametrize(
    "wrong", [np.zeros((2, 27, 28)), np.zeros((4, 196)), [["secret"] * 784], 3.0, [[1.0], [2.0, 3.0]]]
)
def test_other_shapes_are_refused_and_no_value_is_shown(wrong):
    with pytest.raises(InputError, match="Expected X as pictures of 28 × 28 points, a row of 784 numbers each") as told:
        Scattering().transform(wrong)
    assert "secret" not in str(told.value)
