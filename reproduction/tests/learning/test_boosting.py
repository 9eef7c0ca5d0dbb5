"""The paper's boosting: who serves which tree, what is promised and refused, and bits that never change."""

import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes

from bipartite import fixed_words, insecure_seed
from bipartite.errors import DesignError, EpsilonError, InputError
from bipartite.learn import PrivateBoostingRegressor
from bipartite.learn.boosting.leaves import UNIT
from bipartite.learn.boosting.trees import Growth
from bipartite.lottery import MAX_TOTAL
from reproduction.learning import boosting
from reproduction.learning.boosting import PaperBoostingRegressor, draw_trees, tree_tickets
from reproduction.learning.leaves import LEAVES

TENTH = Fraction(1, 10)
X, Y = DIABETES = load_diabetes(return_X_y=True)


def regressor(**changes):
    settings = {"feature_range": (-0.25, 0.25), "target_range": (0, 400), "trees": 8, "depth": 3, "bins": 8}
    return PaperBoostingRegressor(**settings | {"rng": insecure_seed(1)} | changes)


@pytest.mark.parametrize(
    ("trees", "eta"), [(1, TENTH), (50, TENTH), (50, Fraction(99, 100)), (10_000, Fraction(1, 1000))]
)
def test_trees_are_drawn_with_the_public_chances_of_the_paper(trees, eta):
    tickets = tree_tickets(trees, eta)
    assert tickets.min() >= 1 and tickets.sum() <= MAX_TOTAL
    for tree in {0, 1, trees // 2, trees - 1} & set(range(trees)):
        chance = float(eta * (1 - eta) ** tree / (1 - (1 - eta) ** trees))
        assert tickets[tree] / tickets.sum() == pytest.approx(chance, rel=1e-9, abs=1e-11)


def test_every_record_draws_its_tree_from_its_own_ticket():
    # Tickets 0, 1, …, 5 in turn: word w gives ⌊6w/2^64⌋.
    words = [-(-(k << 64) // 6) + 7 for k in (0, 5, 2, 3, 4, 1)]
    assert draw_trees(6, np.array([3, 2, 1]), fixed_words(words).stream(0, 1)).tolist() == [0, 2, 0, 1, 1, 0]
    # Over windows: false alarms below 1e-9, 6.2 standard errors; a chance off by a twentieth would be 40 of them away.
    size, tickets = 200_000, np.array([1, 3])
    drawn, few = (draw_trees(n, tickets, insecure_seed(1).streams().stream(0, n)) for n in (size, 1000))
    assert abs(np.mean(drawn) - 0.75) < 6.2 * (0.75 * 0.25 / size) ** 0.5
    # A record's tree does not depend on how many come after it.
    np.testing.assert_array_equal(drawn[:1000], few)


# The first predictions of seeded fits to the diabetes data, as the library of 18 November 2026 gave them, when it still
# had these leaves: in units of 200/2^20 above the middle.
GOLDEN = {
    ("brr", None, "skip"): [37078, -299422, 37078, -280549, -171323, -299422, -299422, -154885],
    ("brr", 3, "clip"): [1521, -475106, -208195, -59640, -93805, -154965, -227260, -93805],
    ("anchored", None, "skip"): [-40639, -238302, -40639, -237433, -170157, -238302, -238302, -158416],
    ("anchored", 3, "clip"): [-136664, -212925, -136664, -60403, -136664, -60403, -136664, -60403],
    ("geometric", None, "skip"): [-37485, -243107, -37485, -173964, -224042, -243107, -243107, -224042],
    ("geometric", 3, "clip"): [-409215, -504541, -409215, 143671, -409215, 105541, -237630, -409215],
    ("laplace", None, "skip"): [-172379, -769237, -172379, -769237, -441535, -793185, -673983, -250875],
    ("laplace", 3, "clip"): [17267, -1062652, 17267, 1269491, -1062652, -776032, -942549, -1101314],
    ("clamped-laplace", None, "skip"): [-290799, -557588, -290799, -557588, -418479, -596725, -557588, -335920],
    ("clamped-laplace", 3, "clip"): [347582, -407261, 347582, -25960, -407261, -407261, -33719, -255255],
    ("none", None, "skip"): [-27162, -585406, -31188, -284078, -451335, -424518, -482383, -57504],
    ("none", 3, "clip"): [-26128, -695163, -105455, -134200, -420955, -448408, -707393, -248673],
}


@pytest.mark.parametrize(("leaf", "ensemble_trees", "large"), GOLDEN)
def test_bits_are_those_of_the_time_when_the_library_had_these_leaves(leaf, ensemble_trees, large):
    told, changes = [], {"leaf": leaf, "ensemble_trees": ensemble_trees, "large_gradients": large}
    model = clone(regressor(epsilon=5, learning_rate=0.4)).set_params(**changes, progress=told.append)
    predicted = model.fit(*DIABETES).predict(X[:8])
    assert told == [1] * 8 and {leaf for leaf, _, _ in GOLDEN} == set(LEAVES)
    assert np.rint((predicted - 200) * UNIT / 200).astype(int).tolist() == GOLDEN[leaf, ensemble_trees, large]


def test_ensembles_share_epsilon_and_the_last_may_be_smaller():
    model = regressor(trees=10, ensemble_trees=4, leaf="laplace").fit(*DIABETES)
    assert len(model.trees_[0]) == 10
    recipe = model.recipe(Growth(model.grid_, 3, TENTH, Fraction(1)), 10, Fraction(1))
    assert recipe.sizes == (4, 4, 2)
    # Three ensembles, half of each tree's ε to leaves and half to three levels.
    assert recipe.leaves.epsilon <= Fraction(1, 6) < recipe.leaves.epsilon + Fraction(1, 10**15)
    assert recipe.splits.epsilon == Fraction(1, 3) / 2 / 3
    assert regressor(trees=10).recipe(recipe.growth, 10, Fraction(1)).sizes == (10,)


def test_the_guarantee_is_the_librarys_and_none_promises_nothing():
    promise = regressor(epsilon=5, rng=None, ensemble_trees=3).fit(*DIABETES).guarantee_
    theirs = PrivateBoostingRegressor(epsilon=5, feature_range=(-0.25, 0.25), target_range=(0, 400)).fit(*DIABETES)
    assert promise == theirs.guarantee_ and (promise.add_remove, promise.replace) == (5, 10)
    nothing = regressor(leaf="none", rng=None).fit(*DIABETES).guarantee_
    assert (nothing.model, nothing.is_private, nothing.add_remove) == ("none", False, math.inf)
    assert nothing.not_covered == ("everything: leaf='none' adds no noise",)


WRONG = [
    ({"leaf": "sums"}, InputError, "Expected leaf as one of 'laplace', 'clamped-laplace', 'brr'"),
    ({"leaf": ["brr"]}, InputError, "Expected leaf as one of"),
    ({"ensemble_trees": 9}, InputError, "Expected ensemble_trees as a whole number from 1 to 8"),
    ({"leaf_range": -1}, InputError, "Expected leaf_range as a number"),
    ({"leaf_points": 1}, InputError, "Expected leaf_points as a whole number from 2"),
    ({"large_gradients": "keep"}, InputError, "Expected large_gradients as one of 'clip', 'skip'"),
    ({"regularization": 0}, InputError, "Expected regularization as a number from 0.001 to 1000"),
    ({"regularization": 0.12345}, InputError, "Expected regularization with at most three decimals"),
    ({"leaf": "x", "leaf_points": 0}, InputError, "2 problems"),
    ({"epsilon": 1e-15}, EpsilonError, "leaves at least 1e-15 to every leaf"),
    ({"epsilon": 1e-13}, DesignError, "ε"),
]


@pytest.mark.parametrize(("changes", "kind", "message"), WRONG)
def test_bad_parameters_are_refused_at_fit_and_nothing_is_fitted(changes, kind, message):
    model = regressor(**changes)
    with pytest.raises(kind, match=message):
        model.fit(*DIABETES)
    assert not [name for name in vars(model) if name.endswith("_")]


def test_too_many_records_for_whole_numbers_of_64_bits_are_refused(monkeypatch):
    assert boosting.most_records(TENTH) == 42_443_372  # n²·2^10·10 just below 2^64
    monkeypatch.setattr(boosting, "most_records", lambda _: 100)
    with pytest.raises(InputError, match="Expected at most 100 records; use a regularization of fewer decimals"):
        regressor().fit(*DIABETES)
