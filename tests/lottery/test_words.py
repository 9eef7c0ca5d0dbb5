import ast
import copy
import multiprocessing
import os
import pickle
import threading
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import bipartite
from bipartite import BRR, Integers
from bipartite.errors import InputError, WordsExhaustedError
from bipartite.lottery import fixed_words, insecure_seed
from bipartite.lottery.process import _PROCESS
from bipartite.lottery.words import BLOCK, CHUNK, SCALAR, SECURE, KeyStream, _ScalarBlock, is_secure, source_of

# NIST SP 800-38A, F.5.5 CTR-AES256.Encrypt: the key, the first counter, and plaintext ⊕ ciphertext of four blocks.
NIST_KEY = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
NIST_COUNTER = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
NIST_PLAIN = bytes.fromhex(
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
)
NIST_CIPHER = bytes.fromhex(
    "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
    "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"
)
MECHANISM = BRR(Integers(0, 999), epsilon=1)


def test_words_are_the_aes_256_counter_stream_of_nist_little_endian():
    stream = KeyStream(NIST_KEY, NIST_COUNTER)
    keystream = bytes(a ^ b for a, b in zip(NIST_PLAIN, NIST_CIPHER, strict=True))
    expected = [int.from_bytes(keystream[at : at + 8], "little") for at in range(0, 64, 8)]
    assert [stream.word() for _ in range(8)] == expected
    again = KeyStream(NIST_KEY, NIST_COUNTER, expected=3)
    assert again.window(8)[:8].tolist() == expected


def test_a_stream_goes_on_across_refills_whatever_is_left():
    key = bytes(range(32))
    encryptor = Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor()
    expected = np.frombuffer(encryptor.update(bytes(8 * 4 * BLOCK)), dtype="<u8")
    stream = KeyStream(key, bytes(16))
    taken = []
    for step in (1, 5, BLOCK - 10, 3, BLOCK, 7, BLOCK - 1):
        window = stream.window(min(step, BLOCK))
        taken.extend(window[:step].tolist())
        stream.advance(step)
    assert taken == expected[: len(taken)].tolist()


def test_an_erased_stream_holds_no_word():
    stream = KeyStream(bytes(32), bytes(16))
    held = stream.window()
    assert held.any()
    stream.erase()
    assert not held.any()


def test_the_words_of_a_bulk_call_are_erased_when_it_ends(monkeypatch):
    opened = []
    original = KeyStream.__init__

    def remember(self, *args):
        original(self, *args)
        opened.append(self)

    monkeypatch.setattr(KeyStream, "__init__", remember)
    MECHANISM.privatize(np.arange(500))
    assert len(opened) == 1
    assert not opened[0]._words.any()


def test_every_bulk_call_takes_a_fresh_key_from_the_operating_system(monkeypatch):
    keys = []
    original = os.urandom

    def remember(count):
        keys.append(original(count))
        return keys[-1]

    monkeypatch.setattr(os, "urandom", remember)
    for _ in range(3):
        MECHANISM.privatize(np.arange(10))
    assert len(set(keys)) == 3
    assert all(len(key) == 32 for key in keys)


def test_chunks_of_a_call_use_different_streams():
    streams = SECURE.streams()
    first, second = streams.stream(0, 100), streams.stream(1, 100)
    assert not set(first.window(100).tolist()) & set(second.window(100).tolist())
    # The same chunk of another call has another key.
    assert SECURE.streams().stream(0, 100).window()[0] != first.window()[0]


def test_scalar_words_are_erased_once_used_and_never_repeat():
    block = _ScalarBlock()
    words = [block.take() for _ in range(512)]
    assert len(set(words)) == 512
    assert not any(block._bytes)
    assert block.take() is None


def test_the_scalar_buffer_takes_a_new_key_at_each_refill(monkeypatch):
    SCALAR._block = None
    keys = []
    original = os.urandom
    monkeypatch.setattr(os, "urandom", lambda count: keys.append(original(count)) or keys[-1])
    words = [SCALAR.word() for _ in range(3 * 512)]
    assert len(keys) == 3
    assert len(set(words)) == len(words)


def test_a_report_inside_a_signal_handler_gets_a_word_of_its_own():
    # The position is taken in one step, so the buffer may be re-entered anywhere between two steps.
    block = _ScalarBlock()
    positions = block._positions
    seen = []

    class Reentrant:
        def __next__(self):
            at = next(positions)
            if at == 8:
                seen.append(block.take())
            return at

    block._positions = Reentrant()
    seen.extend(block.take() for _ in range(4))
    assert len(set(seen)) == 5
    assert 0 not in seen


def test_threads_have_scalar_words_of_their_own():
    found = []

    def draw():
        found.append([SCALAR.word() for _ in range(600)])

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({word for words in found for word in words}) == 4 * 600


def _child(queue):
    queue.put([SCALAR.word() for _ in range(20)])


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_draws_other_words():
    SCALAR.word()  # the parent's buffer exists
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    children = [context.Process(target=_child, args=(queue,)) for _ in range(2)]
    for child in children:
        child.start()
    drawn = [queue.get(timeout=60) for _ in children] + [[SCALAR.word() for _ in range(20)]]
    for child in children:
        child.join()
    assert len({word for words in drawn for word in words}) == 3 * 20


def test_a_child_that_cannot_rekey_does_not_go_on_with_its_parents_words(monkeypatch):
    SCALAR.word()

    def unavailable(_):
        raise OSError(5, "no randomness")

    monkeypatch.setattr(os, "urandom", unavailable)
    _PROCESS.begin()  # as in a forked child
    with pytest.raises(OSError, match="no randomness"):
        SCALAR.word()


def test_seeded_streams_are_equal_while_they_give_the_same_words():
    one, two = insecure_seed(7), insecure_seed(7)
    assert one == two
    MECHANISM.privatize(5, rng=one)
    assert one != two
    MECHANISM.privatize([5], rng=two)
    assert one == two
    assert one != insecure_seed(8)


def test_a_seeded_stream_continues_and_equals_its_twin():
    one, two = insecure_seed(7), insecure_seed(7)
    values = np.arange(1000)
    first, second = MECHANISM.privatize(values, rng=one), MECHANISM.privatize(values, rng=one)
    assert (first != second).any()
    assert (MECHANISM.privatize(values, rng=two) == first).all()
    assert (MECHANISM.privatize(values, rng=two) == second).all()
    assert (MECHANISM.privatize(values, rng=insecure_seed(8)) != first).any()


def test_many_small_seeded_calls_give_what_one_call_gives():
    values = np.random.default_rng(1).integers(0, 1000, 5000)
    together = MECHANISM.privatize(values, rng=insecure_seed(7))
    rng = insecure_seed(7)
    apart = [MECHANISM.privatize(int(value), rng=rng) for value in values[:1000]]
    apart += MECHANISM.privatize(values[1000:3000].tolist(), rng=rng)
    apart += MECHANISM.privatize(values[3000:], rng=rng).tolist()
    assert apart == together.tolist()


def test_large_seeded_calls_do_not_repeat_their_chunks():
    values = np.zeros(2 * CHUNK, dtype=np.int64)
    rng = insecure_seed(7)
    reports = [MECHANISM.privatize(values, rng=rng) for _ in range(2)]
    parts = [part for each in reports for part in (each[:CHUNK], each[CHUNK:])]
    assert len({part.tobytes() for part in parts}) == 4


def test_fixed_words_are_consumed_in_order_and_run_out():
    rng = fixed_words([1 << 63, 1 << 62, (1 << 64) - 1])
    first = MECHANISM.privatize([500, 500], rng=rng)
    assert repr(rng) == "<fixed words, 1 of 3 left>"
    assert first == [MECHANISM.privatize(500, rng=fixed_words([word])) for word in (1 << 63, 1 << 62)]
    MECHANISM.privatize(500, rng=rng)
    with pytest.raises(WordsExhaustedError, match="ran out: all 3 words are used; pass more words"):
        MECHANISM.privatize(500, rng=rng)
    with pytest.raises(WordsExhaustedError, match="ran out"):
        MECHANISM.privatize([500] * 4, rng=fixed_words([1 << 63, 1 << 62, (1 << 64) - 1]))


def test_fixed_words_serve_calls_of_at_most_2_to_the_20_values():
    words = fixed_words(np.random.default_rng(1).integers(2**40, 2**63, CHUNK + 1000).tolist())
    with pytest.raises(InputError, match="at most 2\\^20 = 1048576 values; call again with fewer"):
        MECHANISM.privatize(np.zeros(CHUNK + 1, dtype=np.int64), rng=words)


@pytest.mark.parametrize("words", [[1.5], ["a"], [-1], [2**64], 5])
def test_what_is_no_word_is_refused(words):
    with pytest.raises(InputError, match="Expected words as whole numbers from 0 to 2\\^64 − 1;"):
        fixed_words(words)


def test_a_seed_is_a_whole_number():
    with pytest.raises(InputError, match="Expected seed as a whole number from 0 to 2\\^64 − 1; pass an int such as 7"):
        insecure_seed("7")
    with pytest.raises(InputError, match="Expected seed as a whole number from 0"):
        insecure_seed(10**5000)
    assert repr(insecure_seed(7)) == "insecure_seed(7)"


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda rng: pickle.loads(pickle.dumps(rng))])
@pytest.mark.parametrize("before", [0, 1, 2, 7, 1000, BLOCK + 3])
def test_a_copy_of_a_seeded_stream_continues_where_it_stood_and_goes_its_own_way(duplicate, before):
    original = insecure_seed(7)
    MECHANISM.privatize(np.zeros(before, dtype=int), rng=original)
    other = duplicate(original)
    assert other == original and other is not original
    values = np.arange(50)
    first = MECHANISM.privatize(values, rng=other)
    assert other != original
    np.testing.assert_array_equal(MECHANISM.privatize(values, rng=original), first)
    assert other == original
    # Beyond the first chunk the words depend on the number of the call.
    many = np.zeros(CHUNK + 10, dtype=int)
    np.testing.assert_array_equal(
        MECHANISM.privatize(many, rng=other)[-10:], MECHANISM.privatize(many, rng=original)[-10:]
    )


@pytest.mark.parametrize("rng", [np.random.default_rng(1), 7, "secure", np.random])
def test_a_statistical_generator_is_refused_as_a_source(rng):
    with pytest.raises(InputError, match="statistical generators are not accepted, use bp.insecure_seed"):
        MECHANISM.privatize(5, rng=rng)
    with pytest.raises(InputError, match="statistical generators are not accepted"):
        source_of(rng)


def test_no_statistical_generator_is_near_a_private_value():
    """Two make up populations, of the demo and for a plan, and one cuts counts of reports into halves."""
    package = Path(bipartite.__file__).parent
    users = set()
    texts = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    for path, text in texts.items():
        for node in ast.walk(ast.parse(text)) if "random" in text else ():
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""] + [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Attribute):
                names = [f"{getattr(node.value, 'id', '')}.{node.attr}"]
            if any(
                name in {"random", "np.random", "numpy.random"} or name.startswith(("random.", "numpy.random"))
                for name in names
            ):
                users.add(path.relative_to(package).as_posix())
    assert users == {"cli/demo.py", "answers/estimation/likelihood.py"}


def test_only_words_that_nobody_can_know_are_secure():
    assert is_secure(None)
    assert is_secure(SECURE)
    for known in (insecure_seed(7), fixed_words([1]), np.random.default_rng(7), 7, {}):
        assert not is_secure(known)
