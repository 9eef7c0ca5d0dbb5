"""Building the files of places: from made-up files of their authors, and nothing written that is not the known file.

From the authors' real files, at the commits that the script names, all four came out as they are known (2026-11-19).
"""

import gzip
import hashlib
from dataclasses import replace

import pytest

from reproduction.datasets import SOURCES
from reproduction.datasets.build_places import RECIPES, main

STACP = {
    "train": "1\t7\t3\n0\t7\t1\r\n",
    "tune": "0\t2\t10\n",
    "test": "1\t2\t1\n",
    "poi_coos": "2\t-30.50\t0.1000000001\n7\t30.2359091167\t-97.7951395833\n9\t1.0\t1.0\n",  # 9: nobody went there
}
# By user and place, with coordinates as they are written: worked out by hand.
JOINED = b"""user,poi,lat,lon,count
0,2,-30.50,0.1000000001,10
0,7,30.2359091167,-97.7951395833,1
1,2,-30.50,0.1000000001,1
1,7,30.2359091167,-97.7951395833,3
"""
EXPECTED = {
    "gowalla_authors_1000.txt": b"61.1,21.5\n40,20.05\n",
    "gowalla_stacp_user_poi_counts.csv.gz": JOINED,
    "foursquare_us_stacp_user_poi_counts.csv.gz": JOINED,
    "foursquare_NYC_filtered_checkins.csv.gz": b"user_idx,poi_idx\n0,3695\n",
}


@pytest.fixture
def clones(tmp_path, monkeypatch):
    """What the authors published, made up; and the checksums of what should come of it."""
    published = {
        "BipartiteRR/code/L-SRR/data_gowalla.txt": b"61.1,21.5\n40,20.05\n",
        "less-is-more-nextpoi/data/processed/nyc/checkins.csv.gz": gzip.compress(b"user_idx,poi_idx\r\n0,3695\r\n"),
    }
    for part, text in STACP.items():
        for beginning in ("gowalla_u5628/Gowalla", "foursquare_u7642/Foursquare"):
            published[f"STACP/datasets/{beginning}_{part}.txt"] = text.encode()
    for path, content in published.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    known = {}
    for name in RECIPES:
        (file,) = SOURCES[name].parts["data"]
        known_file = replace(file, sha256=hashlib.sha256(EXPECTED[file.name]).hexdigest())
        known[name] = replace(SOURCES[name], parts={"data": (known_file,)})
    monkeypatch.setattr("reproduction.datasets.build_places.SOURCES", known)
    return tmp_path


def test_all_four_are_made_of_what_their_authors_published(clones, capsys):
    main([str(clones / "made"), "--clones", str(clones)])
    made = {path.name: path.read_bytes() for path in (clones / "made").iterdir()}
    assert {name: gzip.decompress(each) if name.endswith("gz") else each for name, each in made.items()} == EXPECTED
    assert capsys.readouterr().out.count(", as expected\n") == 4


def test_what_is_not_the_known_file_is_not_written(clones):
    (clones / "BipartiteRR/code/L-SRR/data_gowalla.txt").write_bytes(b"61.1,21.6\n40,20.05\n")
    with pytest.raises(
        SystemExit, match="Expected gowalla_authors_1000.txt, made of zpbh/BipartiteRR/19341a33731d.* to "
    ):
        main([str(clones / "made"), "--clones", str(clones)])
    assert list((clones / "made").iterdir()) == []


def test_without_clones_they_are_looked_for_and_missed_with_their_address(tmp_path, folder, no_fetching):
    address = "https://raw.githubusercontent.com/zpbh/BipartiteRR/19341a33731df57fbed2730bef6ee060071f4d7d/code/L-SRR/d"
    with pytest.raises(SystemExit, match=address):
        main([str(tmp_path / "made")])
    assert no_fetching == ["BipartiteRR-data_gowalla.txt"] and list(folder.iterdir()) == []


def test_the_real_recipes_are_of_files_whose_checksums_are_known():
    assert {SOURCES[name].parts["data"][0].name for name in RECIPES} == set(EXPECTED)
    assert all("build_places" in SOURCES[name].parts["data"][0].copy for name in RECIPES)
