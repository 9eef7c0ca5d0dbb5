"""How often one address may send."""

from bipartite.collect import limits as module
from bipartite.collect.limits import Limits


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def test_an_address_is_asked_to_wait_until_the_hour_is_over():
    clock = Clock()
    limits = Limits(3, clock)
    assert [limits.wait("192.0.2.1") for _ in range(5)] == [0, 0, 0, 3600, 3600]
    clock.now += 3000
    assert limits.wait("192.0.2.1") == 600
    assert limits.wait("192.0.2.2") == 0
    clock.now += 600
    assert limits.wait("192.0.2.1") == 0


def test_no_limit_counts_nothing():
    limits = Limits(0)
    assert not any(limits.wait("192.0.2.1") for _ in range(1000))
    assert not limits._counts


def test_a_network_of_ipv6_is_one_address():
    limits = Limits(1)
    assert limits.wait("2001:db8::1") == 0
    assert limits.wait("2001:db8::ffff:2") > 0
    assert limits.wait("2001:db8:0:1::1") == 0


def test_an_address_of_ipv4_is_its_own_however_it_is_written():
    limits = Limits(1)
    assert limits.wait("::ffff:192.0.2.1") == 0
    assert limits.wait("::ffff:192.0.2.2") == 0
    assert limits.wait("192.0.2.1") > 0


def test_what_is_no_address_has_a_limit_too():
    limits = Limits(1)
    assert limits.wait("") == 0
    assert limits.wait("") > 0


def test_no_address_is_kept_and_the_key_is_new_every_hour():
    clock = Clock()
    limits = Limits(5, clock)
    limits.wait("192.0.2.1")
    (first,) = limits._counts
    clock.now += 3600
    limits.wait("192.0.2.1")
    (second,) = limits._counts
    assert first != second
    assert all(isinstance(each, int) for each in (first, second))


def test_memory_is_bounded_however_many_addresses_come(monkeypatch):
    monkeypatch.setattr(module, "_MOST", 100)
    limits = Limits(10**9)
    for at in range(5000):
        limits.wait(f"10.0.{at // 250}.{at % 250}")
    assert len(limits._counts) <= 200
