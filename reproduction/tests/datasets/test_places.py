"""Check-ins: SNAP's layout, TSMC2014's, and the tables that others made of them."""

import gzip
import io
import time
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite.errors import DataFileError
from reproduction import datasets
from reproduction.datasets import lines as module
from reproduction.datasets.gowalla import read_histogram
from reproduction.datasets.lines import SNAP, blocks, read_lines
from reproduction.datasets.lines import TSMC as TSMC_LAYOUT
from reproduction.datasets.place_tables import read_place_table

NYC = (
    b"0\t2010-10-12T00:21:28Z\t40.6438845363\t-73.78280639649999\t23261\n"
    b"0\t2010-10-11T20:21:20Z\t40.74137425\t-73.9881052167\t16907\n"
    b"7\t2010-10-11T20:20:42Z\t-0.5\t3\t16907\n"
    b"0\t2010-10-12T00:21:28Z\t40.6438845363\t-73.78280639649999\t23261\n"
)
TSMC = (
    "470\t49bbd6c0f964a520f4531fe3\t4bf58dd8d48988d127951735\tArts & Crafts Store\t40.719810375488535\t"
    "-74.00258103213994\t-240\tTue Apr 03 18:00:09 +0000 2012\r\n"
    "979\t4a43c0aef964a520c6a61fe3\t4bf58dd8d48988d1df941735\tCafé\t40.60679958140643\t"
    "-74.04416981025437\t-240\tSat Feb 16 02:35:36 +0000 2013\r\n"
).encode("latin-1")


def lines(count, seed=1):
    """So many lines in the layout of the full Gowalla file."""
    draw = np.random.default_rng(seed)
    users, places = draw.integers(0, 196_591, count), draw.integers(0, 5_977_757, count)
    times = np.datetime64("2009-02-01T00:00:00") + draw.integers(0, 54_000_000, count).astype("timedelta64[s]")
    latitudes, longitudes = draw.uniform(-60, 70, count), draw.uniform(-180, 180, count)
    rows = zip(users, times, latitudes, longitudes, places, strict=True)
    return "".join(f"{u}\t{t}Z\t{a:.10f}\t{o:.10f}\t{p}\n" for u, t, a, o, p in rows).encode()


def test_snap_lines_become_arrays_and_nothing_is_changed(nowhere):
    found = read_lines(io.BytesIO(NYC), "nyc", SNAP, nowhere)
    assert found.users.tolist() == [0, 0, 7, 0]
    assert found.places.tolist() == [23261, 16907, 16907, 23261]
    assert [str(when) for when in found.times[:2]] == ["2010-10-12T00:21:28", "2010-10-11T20:21:20"]
    assert found.coordinates[:3].tolist() == [
        [40.6438845363, -73.78280639649999],
        [40.74137425, -73.9881052167],
        [-0.5, 3.0],
    ]
    assert dict(found.oddities) == {
        "repeated rows": 1,
        "more than ten decimals": 2,
        "outside the world": 0,
        "outside the world, left out": 0,
        "places with several coordinates": 1,
    }
    assert list(found.to_frame().columns) == ["user", "time", "latitude", "longitude", "place"]
    with pytest.raises(ValueError, match="read-only"):
        found.users[0] = 1


@pytest.mark.parametrize("size", [1, 7, 63, 64, 65, 1000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [b"\n", b""])
def test_blocks_of_any_size_hold_the_same_check_ins(size, end, last, nowhere):
    text = NYC.replace(b"\n", end)
    text = text if last else text.removesuffix(end)
    # A line must fit into a block: smaller ones are served byte by byte to blocks of a line's length.
    stream = _Dripping(text, size) if size < 80 else io.BytesIO(text)
    read = list(blocks(stream, "nyc", SNAP, nowhere, size=max(size, 80)))
    assert np.concatenate([block.places for block in read]).tolist() == [23261, 16907, 16907, 23261]
    assert np.concatenate([block.coordinates for block in read])[:, 1].tolist()[2:] == [3.0, -73.78280639649999]


class _Dripping(io.BytesIO):
    """A stream that gives less than it is asked for, as decompressors do."""

    def __init__(self, content, most):
        super().__init__(content)
        self._most = most

    def read(self, size=-1):
        return super().read(min(size, self._most))


@pytest.mark.parametrize(("layout", "text"), [(SNAP, NYC), (TSMC_LAYOUT, TSMC)])
def test_good_lines_are_read_at_once_and_as_they_are_cell_by_cell(layout, text, nowhere, monkeypatch):
    monkeypatch.setattr(module, "_cell_by_cell", None)
    fast = read_lines(io.BytesIO(text), "some", layout, nowhere)
    monkeypatch.undo()
    monkeypatch.setattr(module, "_at_once", lambda *_: None)
    slow = read_lines(io.BytesIO(text), "some", layout, nowhere)
    assert fast.more.keys() == slow.more.keys()
    for one, other in zip(_columns(fast), _columns(slow), strict=True):
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()


def _columns(found):
    return [found.users, found.places, found.times, found.coordinates, *found.more.values()]


numbers = st.one_of(
    st.floats(-90, 90).map(repr),
    st.floats(-90, 90).map(lambda value: f"{value:.10f}"),
    st.integers(-90, 90).map(str),
    st.tuples(st.integers(0, 89), st.integers(0, 10**20)).map(lambda parts: f"{parts[0]}.{parts[1]}"),
    st.sampled_from(["-0.0", ".5", "5.", "+4.25", "1e-5", "-00.5", "007.5", "1_0.5"]),
)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=6))
def test_every_decimal_becomes_the_float_that_python_reads(pairs):
    text = "".join(f"1\t2010-10-12T00:21:28Z\t{a}\t{o}\t2\n" for a, o in pairs).encode()
    (block,) = blocks(io.BytesIO(text), "some", SNAP, None)
    assert block.coordinates.tolist() == [[float(a), float(o)] for a, o in pairs]


@given(st.lists(st.tuples(st.integers(0, 10**15 - 1), st.integers(0, 10**15 - 1)), min_size=1, max_size=6))
def test_every_id_becomes_its_whole_number(pairs):
    text = "".join(f"{user}\t2010-10-12T00:21:28Z\t1.5\t2.5\t{place}\n" for user, place in pairs).encode()
    (block,) = blocks(io.BytesIO(text), "some", SNAP, None)
    assert list(zip(block.users.tolist(), block.places.tolist(), strict=True)) == pairs


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0\t2010-10-12T00:21:28Z\t40.5\t-73.5", "expected 5 columns between tabs (user, time, latitude, longitude,"),
        ("0\t2010-10-12T00:21:28Z\t40.5\t-73.5\t1\t2", "location id), got 6; is this the right file?"),
        ("", "got 1; is this the right file?"),
        ("x\t2010-10-12T00:21:28Z\t40.5\t-73.5\t1", "expected a whole number that is not negative as user, got 'x'"),
        ("\t2010-10-12T00:21:28Z\t40.5\t-73.5\t1", "as user, got ''"),
        ("-1\t2010-10-12T00:21:28Z\t40.5\t-73.5\t1", "as user, got '-1'"),
        ("1\t2010-10-12T00:21:28Z\t40.5\t-73.5\t12345678901234567890", "as location id, got '12345678901234567890'"),
        (
            "1\t2010-13-12T00:21:28Z\t40.5\t-73.5\t1",
            "expected a time such as 2010-10-12T00:21:28Z as time, got '2010-13",
        ),
        ("1\t2010-10-12T00:21:28\t40.5\t-73.5\t1", "as time, got '2010-10-12T00:21:28'"),
        ("1\t2010-10-12T00:21:28+\t40.5\t-73.5\t1", "as time, got '2010-10-12T00:21:28+'"),
        ("1\tNaT\t40.5\t-73.5\t1", "as time, got 'NaT'"),
        ("1\t2010-10-12T00:21:28Z\tnorth\t-73.5\t1", "expected a number as latitude, got 'north'"),
        ("1\t2010-10-12T00:21:28Z\t4.0.5\t-73.5\t1", "expected a number as latitude, got '4.0.5'"),
        (
            "1.5\t2010-10-12T00:21:28Z\t40.5\t-73.5\t1",
            "expected a whole number that is not negative as user, got '1.5'",
        ),
        ("1\t-010-10-12T00:21:28Z\t40.5\t-73.5\t1", "as time, got '-010-10-12T00:21:28Z'"),
        ("1\t2010-10-12T00:21:28Zé\t40.5\t-73.5\t1", "as time, got '2010-10-12T00:21:28Z"),
        ("1\t2010-10-12T00:21:28Z\t1e999\t-73.5\t1", "expected a number as latitude, got '1e999'"),
        ("1\t2010-10-12T00:21:28Z\t-\t-73.5\t1", "expected a number as latitude, got '-'"),
        (
            "1\t2010-10-12T00:21:28Z\t405.185\t-73.5\t1",
            "expected a latitude from −90 to 90 and a longitude from −180 to 180, got 405.185 and -73.5; use outside=",
        ),
        ("1\t2010-10-12T00:21:28Z\tnan\t-73.5\t1", "expected a latitude from −90 to 90 and"),
        ("1\t2010-10-12T00:21:28Z\t40.5\t-180.1\t1", "got 40.5 and -180.1; use outside='drop' to leave such rows out"),
    ],
)
@pytest.mark.parametrize("size", [100, 1 << 20])
def test_a_wrong_line_is_named(line, message, size):
    good = lines(40)
    with pytest.raises(DataFileError) as caught:
        for _ in blocks(io.BytesIO(good + line.encode() + b"\n" + good), "some.txt", SNAP, None, size=size):
            pass
    assert str(caught.value).startswith("some.txt, line 41: expected ")
    assert message in str(caught.value)


def test_what_lies_outside_the_world_is_dropped_or_kept_only_when_asked(nowhere):
    text = NYC + b"1\t2010-10-12T00:21:28Z\t405.185\t-73.5\t1\n"
    dropped = read_lines(io.BytesIO(text), "some", SNAP, nowhere, "drop")
    assert (len(dropped), dropped.left_out, dropped.oddities["outside the world, left out"]) == (4, 1, 1)
    kept = read_lines(io.BytesIO(text), "some", SNAP, nowhere, "keep")
    assert (len(kept), kept.left_out, kept.oddities["outside the world"]) == (5, 0, 1)


def test_what_is_no_text_or_nothing_at_all_is_refused(nowhere):
    with pytest.raises(DataFileError, match="line 1: expected at most 1,048,576 bytes, got more; is this the right"):
        read_lines(io.BytesIO(bytes(1 << 22)), "some", SNAP, nowhere)
    with pytest.raises(DataFileError, match="line 5: expected at most 1,048,576 bytes, got more"):
        read_lines(io.BytesIO(NYC + bytes(1 << 22)), "some", SNAP, nowhere)
    with pytest.raises(DataFileError, match="line 1: expected 5 columns between tabs .*, got 1; is this the right"):
        read_lines(io.BytesIO(bytes(1 << 10)), "some", SNAP, nowhere)
    with pytest.raises(DataFileError, match="some: expected check-ins, got an empty file"):
        read_lines(io.BytesIO(b""), "some", SNAP, nowhere)


def test_the_full_file_is_read_in_seconds_and_in_blocks_of_bounded_memory(tmp_path):
    def peak(path):
        tracemalloc.start()
        with gzip.open(path) as stream:
            rows = sum(len(block.users) for block in blocks(stream, "some", SNAP, None))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return rows, most

    text = lines(50_000)
    for name, times in [("short.gz", 1), ("long.gz", 4)]:
        (tmp_path / name).write_bytes(gzip.compress(text * times, 1))
    (few, short), (many, long) = peak(tmp_path / "short.gz"), peak(tmp_path / "long.gz")
    assert (few, many) == (50_000, 200_000)
    assert long < 1.2 * short < 50e6
    start = time.process_time()
    with gzip.open(tmp_path / "long.gz") as stream:
        for _ in blocks(stream, "some", SNAP, None):
            pass
    # For all 6.4 million lines, with unpacking, 10 s of one core of a busy machine when this was written.
    assert (time.process_time() - start) * 6_442_890 / many < 40


def test_a_truncated_full_file_says_so_also_while_it_is_read(folder):
    packed = gzip.compress(lines(3_000), mtime=0)
    (folder / "loc-gowalla_totalCheckins.txt.gz").write_bytes(packed[: len(packed) // 2])
    message = (
        "loc-gowalla_totalCheckins.txt.gz ends early or is damaged .*fetch it again from https://snap.stanford.edu"
    )
    with pytest.raises(DataFileError, match=message):
        datasets.gowalla()
    with pytest.raises(DataFileError, match=message):
        list(datasets.gowalla_blocks())
    (folder / "loc-gowalla_totalCheckins.txt.gz").write_bytes(b"\x1f\x8b" + bytes(40))
    with pytest.raises(DataFileError, match="ends early or is damaged"):
        datasets.gowalla()
    (folder / "loc-gowalla_totalCheckins.txt.gz").write_bytes(b"<html>")
    with pytest.raises(DataFileError, match="ends early or is damaged"):
        datasets.gowalla()


def test_the_full_gowalla_file_is_read_packed_or_not_and_its_checksum_is_said_to_be_unknown(folder):
    (folder / "loc-gowalla_totalCheckins.txt").write_bytes(NYC)
    plain = datasets.gowalla()
    (folder / "loc-gowalla_totalCheckins.txt.gz").write_bytes(gzip.compress(NYC.splitlines()[0], mtime=0))
    packed = datasets.gowalla()
    assert (len(plain), len(packed)) == (4, 1)
    used = packed.provenance.files[0]
    assert (used.standing, packed.provenance.is_official, used.path.name) == (
        "unchecked", False, "loc-gowalla_totalCheckins.txt.gz",
    )  # fmt: skip
    assert "no checksum of the publisher's file is known" in used.note
    assert "KDD 2011" in packed.provenance.citation
    (block,) = datasets.gowalla_blocks()
    assert block.users.tolist() == packed.users.tolist()


def tsmc_archive(path, content, member="dataset_tsmc2014/dataset_TSMC2014_NYC.txt"):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("dataset_tsmc2014/dataset_TSMC2014_readme.txt", "read me")
        archive.writestr(member, content)


def test_tsmc_is_latin_1_with_times_in_words(folder):
    tsmc_archive(folder / "dataset_tsmc2014.zip", TSMC)
    found = datasets.foursquare("nyc")
    assert found.users.tolist() == [470, 979]
    assert found.places.tolist() == ["49bbd6c0f964a520f4531fe3", "4a43c0aef964a520c6a61fe3"]
    assert found.coordinates[0].tolist() == [40.719810375488535, -74.00258103213994]
    assert [str(when) for when in found.times] == ["2012-04-03T18:00:09", "2013-02-16T02:35:36"]
    assert found.more["category"].tolist() == ["Arts & Crafts Store", "Café"]
    assert found.more["timezone offset"].tolist() == [-240, -240]
    assert found.provenance.files[0].standing == "unchecked"
    (folder / "dataset_TSMC2014_TKY.txt").write_bytes(TSMC)
    with pytest.raises(DataFileError, match="Expected dataset_TSMC2014_TKY.txt in the archive .*dataset_tsmc2014.zip"):
        datasets.foursquare("tokyo")
    (folder / "dataset_tsmc2014.zip").unlink()
    assert len(datasets.foursquare("tokyo")) == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\t-240\tSat", "\tSat", "expected 8 columns between tabs (user, venue id,"),
        ("979\t", "nobody\t", "expected a whole number as user, got 'nobody'"),
        ("40.606", "140.606", "expected a latitude from −90 to 90 and a longitude from −180 to 180, got 140.606"),
        ("Sat Feb 16", "Sat Feb 31", "expected a time such as Tue Apr 03 18:00:09 +0000 2012 as time, got 'Sat Feb 31"),
        ("Sat Feb 16", "Sat Foo 16", "got 'Sat Foo 16"),
        ("+0000 2013", "+0100 2013", "got 'Sat Feb 16 02:35:36 +0100 2013'"),
        ("+0000 2013", "2013", "got 'Sat Feb 16 02:35:36 2013'"),
        ("02:35:36", "02:35:é6", "got 'Sat Feb 16 02:35:é6 +0000 2013'"),
    ],
)
def test_a_wrong_line_of_tsmc_is_named(folder, old, new, message):
    wrong = TSMC.decode("latin-1").replace(old, new).encode("latin-1")
    tsmc_archive(folder / "dataset_tsmc2014.zip", wrong)
    with pytest.raises(DataFileError) as caught:
        datasets.foursquare("nyc")
    assert str(caught.value).startswith("dataset_TSMC2014_NYC.txt, line 2: expected ")
    assert message in str(caught.value)


def test_an_empty_or_damaged_archive_is_refused(folder):
    tsmc_archive(folder / "dataset_tsmc2014.zip", b"")
    with pytest.raises(DataFileError, match="expected check-ins, got an empty file"):
        datasets.foursquare("nyc")
    tsmc_archive(folder / "dataset_tsmc2014.zip", TSMC)
    whole = (folder / "dataset_tsmc2014.zip").read_bytes()
    (folder / "dataset_tsmc2014.zip").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataFileError, match="dataset_tsmc2014.zip ends early or is damaged"):
        datasets.foursquare("nyc")
    (folder / "dataset_tsmc2014.zip").write_bytes(whole.replace(b"Caf", b"Cof"))
    with pytest.raises(DataFileError, match="is damaged .*CRC"):
        datasets.foursquare("nyc")


def test_tables_of_others_find_their_roles(nowhere):
    kinds = {"user": "whole", "unix_time": "whole", "lat": "number", "lon": "number", "poi": "whole", "day": "text"}
    text = b"user,unix_time,lat,lon,poi,day\n1,1333447208,40.5,-73.5,9,Monday\n1,1333447209,41.5,-73.5,9,Monday\n"
    found = read_place_table(text, "some.csv", kinds, nowhere)
    assert (found.users.tolist(), found.places.tolist(), found.counts) == ([1, 1], [9, 9], None)
    assert str(found.times[0]) == "2012-04-03T10:00:08"
    assert found.more["day"].tolist() == ["Monday", "Monday"]
    assert found.oddities["places with several coordinates"] == 1
    with pytest.raises(DataFileError, match=r"some.csv, line 3: expected a latitude .* got 91.5 and -73.5"):
        read_place_table(text.replace(b"41.5", b"91.5"), "some.csv", kinds, nowhere)


def test_a_histogram_is_an_array_of_that_name_without_pickles(nowhere):
    good, other = io.BytesIO(), io.BytesIO()
    np.savez(good, hist=np.arange(4, dtype=np.int32).reshape(2, 2))
    np.savez(other, counts=np.arange(4))
    good.seek(0)
    other.seek(0)
    found = read_histogram(good, "some.npz", nowhere)
    assert (found.counts.tolist(), found.to_frame().shape) == ([[0, 1], [2, 3]], (2, 2))
    for stream in (other, io.BytesIO(b"something else")):
        with pytest.raises(DataFileError, match="some.npz: expected an npz file with an array named hist"):
            read_histogram(stream, "some.npz", nowhere)
