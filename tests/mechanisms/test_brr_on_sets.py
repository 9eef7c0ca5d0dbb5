"""BRR on points and items: m, near-sets, promises, draws and quality, against brute force."""

from collections import Counter

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bipartite import BRR, Constant, Items, Points, fixed_words, from_spec, insecure_seed, verify
from bipartite.errors import DesignError, InputError, OutsideDomainError
from bipartite.lottery import Epsilon, Nearest, Tickets, draw_many
from bipartite.lottery.compiled_nearest import NearestTable
from bipartite.lottery.compiled_points import point_kernel
from bipartite.lottery.order import RankOrder, VectorOrder, farthest_near
from bipartite.mechanisms.design import m_of_sets
from bipartite.mechanisms.design.m_of_sets import algorithm_2
from bipartite.mechanisms.spec import canonical_json, load_spec
from bipartite.quality import loss as loss_of
from tests.locations.worlds import authors_places
from tests.lottery.test_draw import EveryWord
from tests.oracle import number
from tests.strategies import epsilons
from tests.strategies_sets import items, points, sets


def nearest_by_sorting(domain, x, m):
    """The m nearest by (loss, itself first, index), with losses as the domain gives them."""
    losses = domain.losses(x)
    return set(sorted(range(len(domain)), key=lambda y: (losses[y], y != x, y))[:m])


@st.composite
def mechanisms(draw, domains=sets):
    domain = draw(domains)
    m = draw(st.one_of(st.sampled_from(["safe", "best"]), st.integers(1, max(1, len(domain) - 1))))
    return BRR(domain, draw(epsilons), m=m)


@given(sets, epsilons)
def test_m_is_algorithm_2_by_brute_force_in_exact_arithmetic(domain, epsilon):
    rows = [domain.losses(x).tolist() for x in range(len(domain))]
    expected = algorithm_2(rows, epsilon).m
    assert m_of_sets.safe_m_of_set(domain, Epsilon.of(epsilon)) == expected


@given(sets, epsilons)
def test_the_compiled_search_finds_the_same_m(domain, epsilon):
    from bipartite.mechanisms.design.compiled_m import CompiledRows

    budget = Epsilon.of(epsilon)
    excess = float(mpmath.exp(number(epsilon))) - 1
    counts, certain = np.zeros(len(domain), dtype=np.int64), np.zeros(len(domain), dtype=bool)
    CompiledRows(domain).count(0, len(domain), excess, 16, counts, certain)
    for x in range(len(domain)):
        if certain[x]:
            assert counts[x] == m_of_sets.count_exactly(m_of_sets.exact_losses(domain.losses(x).tolist()), budget)


def test_a_constant_row_is_never_decided_by_floats():
    count, certain = m_of_sets.count_raised(np.full(7, 0.1), 1.7)
    assert not certain
    assert count >= 1
    assert BRR(Items(None, loss=np.ones((7, 7))), 1).m == 1


@given(mechanisms())
def test_every_near_set_is_the_m_nearest_also_from_the_spec_alone(mechanism):
    domain = mechanism.domain
    reread = load_spec(canonical_json(mechanism.to_spec()))
    for x in range(len(domain)):
        near = np.flatnonzero(mechanism.lottery.near(x)).tolist()
        assert set(near) == nearest_by_sorting(domain, x, mechanism.m)
        assert np.flatnonzero(reread.lottery.near(x)).tolist() == near


@given(sets, epsilons)
def test_theorem_4_no_value_does_worse_than_under_grr_and_all_together_better_when_m_grows(domain, epsilon):
    brr, grr = BRR(domain, epsilon), BRR(domain, epsilon, m=1)
    # With off-diagonal ties the item itself stays first, so GRR is m = 1 in the same order.
    difference = loss_of(grr).by_value - loss_of(brr).by_value
    scale = np.abs(domain.loss_matrix()).max() + 1e-300
    assert (difference >= -1e-9 * scale).all()
    if brr.m > 1:
        assert difference.sum() > 0


@given(mechanisms(), st.floats(0, 10), st.randoms())
def test_quality_equals_the_matrix(mechanism, distance, random):
    domain, matrix = mechanism.domain, mechanism.matrix()
    losses = domain.loss_matrix()
    local = (matrix * losses).sum(axis=1)
    assert loss_of(mechanism).by_value == pytest.approx(local, abs=1e-9, rel=1e-9)
    assert loss_of(mechanism).mean == pytest.approx(local.mean(), abs=1e-9, rel=1e-9)
    prior = np.array([random.random() + 0.01 for _ in local])
    prior /= prior.sum()
    assert loss_of(mechanism, prior).mean == pytest.approx(prior @ local, abs=1e-9, rel=1e-9)
    assert loss_of(Constant(domain)).mean == pytest.approx(losses.mean(axis=0).min(), abs=1e-9)
    best = int(Constant(domain).outputs.indices[0])  # one of the best, where rounding decides between equals
    if (losses < 0).any():
        with pytest.raises(InputError, match="a similarity, which is not a distance"):
            loss_of(mechanism).within(distance)
        return
    # A loss that equals the distance but for its last bit may round either way.
    assume(not (np.isclose(losses, distance, rtol=1e-12, atol=0) & (losses != distance)).any())
    assert loss_of(mechanism).within(distance) == pytest.approx((matrix * (losses <= distance)).sum(axis=1).mean())
    assert loss_of(Constant(domain)).within(distance) == pytest.approx((losses[:, best] <= distance).mean())


@given(sets, epsilons, st.lists(st.integers(0, 9), min_size=12, max_size=12))
def test_the_best_m_has_the_least_expected_loss(domain, epsilon, weights):
    raw = np.array(weights[: len(domain)], dtype=float) + 1e-3
    for prior in (None, raw / raw.sum()):
        chosen = BRR(domain, epsilon, m="best", prior=prior)
        flat = np.full(len(domain), 1 / len(domain)) if prior is None else prior
        losses = domain.loss_matrix()
        every = [flat @ (BRR(domain, epsilon, m=m).matrix() * losses).sum(axis=1) for m in range(1, len(domain))]
        assert flat @ (chosen.matrix() * losses).sum(axis=1) == pytest.approx(
            min(every), abs=1e-8 * np.abs(losses).max() + 1e-300
        )


BITS = 9
LINE_OF_FIVE = VectorOrder(np.array([[0], [1], [2], [4], [9]]), "squared")
SQUARE = VectorOrder(np.array([[0, 0], [0, 1], [1, 0], [1, 1], [5, 5], [2, 2]]), "manhattan")
RANKED = RankOrder(np.array([[0, 1, 1, 2], [1, 0, 2, 1], [0, 0, 0, 0], [3, 2, 1, 0]], dtype=np.int32))


@pytest.mark.grid(4)
@pytest.mark.parametrize("order", [LINE_OF_FIVE, SQUARE, RANKED], ids=["squared", "manhattan", "ranks"])
@pytest.mark.parametrize("tickets", [Tickets(2, 1), Tickets(5, 2), Tickets(37, 4)], ids=str)
@pytest.mark.parametrize("by_list", [False, True])
def test_over_all_words_every_output_gets_exactly_its_tickets(order, tickets, by_list):
    for m in range(1, len(order)):
        lottery = Nearest(order, m, tickets, by_list, BITS)
        for x in range(len(order)):
            drawn = Counter()
            for word in range(2**BITS):
                try:
                    drawn[lottery.draw(x, EveryWord(word))] += 1
                except EveryWord.RedrawnError:
                    drawn["again"] += 1
            near = lottery.near(x)
            assert near.sum() == m
            rounds = 2**BITS // lottery.drawn_from
            held = {y: rounds * (tickets.near if near[y] else tickets.far) for y in range(len(order))}
            assert drawn == Counter({**held, "again": 2**BITS - sum(held.values())})


@given(mechanisms(), st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=60), st.data())
def test_kernels_agree_with_plain_python_on_points(mechanism, words, data):
    lottery = mechanism.lottery
    codes = data.draw(st.lists(st.integers(0, lottery.inputs - 1), min_size=1, max_size=40))
    words = [0, *words]
    for by_list in (True, False):
        each = Nearest(lottery.order, lottery.m, lottery.tickets, by_list)
        source = fixed_words(words)
        expected = []
        try:
            for code in codes:
                expected.append(each.draw(code, source))  # noqa: PERF401 (stops when the words run out)
        except Exception as error:  # noqa: BLE001
            assert "ran out" in str(error)  # noqa: PT017
        for kernel in (each.draw_block, point_kernel(each)):
            reports = np.full(len(codes), -1)
            done, used, inside = kernel(np.array(codes), reports, np.array(words, dtype=np.uint64), 0, 0)
            assert inside
            assert reports[:done].tolist() == expected
            assert done == len(expected)
            if done == len(codes):
                assert used == len(words) - int(repr(source).split(", ")[1].split()[0])


@pytest.mark.parametrize("kind", [lambda deal: deal.draw_block, point_kernel], ids=["numpy", "numba"])
@pytest.mark.parametrize("by_list", [True, False])
@pytest.mark.parametrize("code", [-1, 5, 2**62, -(2**63)])
def test_a_code_outside_is_noticed(kind, by_list, code):
    lottery = Nearest(LINE_OF_FIVE, 2, Tickets(5, 2), by_list)
    words = np.random.default_rng(1).integers(0, 2**64, 50, dtype=np.uint64)
    assert not kind(lottery)(np.array([0, code]), np.zeros(2, dtype=np.int64), words, 0, 0)[2]
    assert kind(lottery)(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), words, 0, 0) == (0, 0, True)


@given(st.one_of(points(30), items(20)), st.data())
def test_the_table_of_mth_neighbours_is_what_each_row_says(domain, data):
    m = data.draw(st.integers(1, len(domain) - 1)) if len(domain) > 1 else 1
    table = NearestTable(domain.order, m)
    for x in range(len(domain)):
        farthest = farthest_near(x, domain.order.distances(x), m)
        assert (farthest.distance, farthest.index) == (table.farthest[x], table.last[x])


def test_reports_do_not_depend_on_threads_or_kernels():
    rng = np.random.default_rng(1)
    mechanism = BRR(Points(rng.uniform([-60, -180], [60, 180], (300, 2)), metric="haversine"), 1)
    values = rng.integers(0, 300, 2**20 + 5000)
    one = mechanism.privatize(values, rng=insecure_seed(1))
    two = mechanism.privatize(values, rng=insecure_seed(1), threads=2)
    assert (one == two).all()
    plain = draw_many(
        mechanism.lottery,
        mechanism.domain.codec(mechanism.outputs, "error"),
        values[:3000],
        insecure_seed(1),
        kernel=mechanism.lottery.draw_block,
    )
    assert (plain == one[:3000]).all()


def test_few_tries_are_expected_or_near_outputs_are_listed():
    rng = np.random.default_rng(1)
    domain = Points(rng.uniform(0, 1, (200, 2)))
    assert BRR(domain, 1).to_spec()["draw"] == "tries"
    listed = BRR(domain, 8)
    assert listed.to_spec()["draw"] == "list"
    assert from_spec(listed.to_spec()) == listed
    values = rng.integers(0, 200, 5000)
    assert listed.privatize(values, rng=insecure_seed(2)).tolist() == [
        listed.privatize(int(value), rng=source) for source in [insecure_seed(2)] for value in values
    ]


def test_padding_a_set_is_refused():
    with pytest.raises(InputError, match="edges='clamped' on a circle, points and items, which have no ends to pad"):
        BRR(Items(None, loss=[[0, 1], [1, 0]]), 1, edges="padded")
    with pytest.raises(DesignError, match="ε=0.00000000000001 is too small for N=2: .* smallest ε for N=2 is about"):
        BRR(Items(None, loss=[[0, 1], [1, 0]]), "1e-14")


@pytest.mark.grid(1)
@pytest.mark.parametrize("epsilon", ["50", "36", "34.5"])
def test_the_advice_of_a_refusal_on_points_works(epsilon):
    domain = Points(np.random.default_rng(1).random((2000, 2)))
    with pytest.raises(DesignError, match="the largest ε for N=2000 is about") as caught:
        BRR(domain, epsilon, m=1)
    advised = str(caught.value).split("is about ")[1].rstrip(".")
    assert verify(BRR(domain, advised, m=1)).holds


def test_sums_that_overflow_are_decided_exactly():
    items = Items(None, loss=1e308 * (1 - np.eye(3)))
    assert not m_of_sets.count_raised(items.losses(0), 1.7)[1]
    assert BRR(items, 1).m == algorithm_2(items.loss_matrix().tolist(), 1).m == 1


def test_progress_is_told_how_many_rows_are_done():
    done = []
    BRR(Points(np.random.default_rng(1).uniform(0, 1, (50, 2))), 1, progress=done.append)
    assert sum(done) == 50
    done.clear()
    BRR(Points(np.random.default_rng(1).uniform(0, 1, (50, 2))), 1, m="best", progress=done.append)
    assert sum(done) == 50


@pytest.mark.parametrize(("epsilon", "m", "grr", "brr", "best"), [("2", 30, 0.634, 0.714, 0.801)])
def test_jaccard_gives_the_reference_utilities(epsilon, m, grr, brr, best):
    domain = Items.tanimoto(np.arange(1, 101))
    assert -loss_of(BRR(domain, epsilon, m=1)).mean == pytest.approx(grr, abs=6e-4)
    assert -loss_of(BRR(domain, epsilon)).mean == pytest.approx(brr, abs=6e-4)
    chosen = BRR(domain, epsilon, m="best")
    assert chosen.m == m
    assert -loss_of(chosen).mean == pytest.approx(best, abs=6e-4)


@pytest.mark.slow
@pytest.mark.data
def test_the_authors_places_give_the_reference_errors():
    places = authors_places()
    for epsilon, grr, brr, best in (("0.5", 2066, 1870, 1847), ("1", 2063, 1683, 1637), ("2", 2054, 1311, 1243)):
        assert loss_of(BRR(places, epsilon, m=1)).mean == pytest.approx(grr, abs=1)
        assert loss_of(BRR(places, epsilon)).mean == pytest.approx(brr, abs=1)
        assert loss_of(BRR(places, epsilon, m="best")).mean == pytest.approx(best, abs=1)
    assert loss_of(Constant(places)).mean == pytest.approx(1487, abs=1)
    rank = np.linalg.matrix_rank(BRR(places, 1).matrix())
    assert rank == 810


def test_an_unknown_row_is_refused_everywhere():
    mechanism = BRR(Points([[0, 0], [0, 1], [5, 5]]), 1)
    for values in (3, [0, 3], np.array([0, -1])):
        with pytest.raises(OutsideDomainError, match="use domain.nearest to report"):
            mechanism.privatize(values)
