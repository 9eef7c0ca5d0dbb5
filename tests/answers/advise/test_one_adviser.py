"""One purpose has one recommendation, whoever is asked: Python, the command line, and the docs."""

import json
from pathlib import Path

import numpy as np
import pytest

import bipartite as bp
from bipartite.answers.advise import recommending
from bipartite.answers.advise.candidates import WANTED
from bipartite.cli import main
from bipartite.locations.atlas import cities

DOCS = Path(__file__).parents[3] / "docs"
USERS = 20_000
FLAT = {"labels": list("abcde"), "loss": (1 - np.eye(5)).tolist()}
DOMAINS = {
    "few": (bp.Integers(1, 3), ["1..3"], ("release", "mean", "distribution", "categories")),
    "ages": (bp.Integers(18, 38), ["18..38"], ("release", "mean", "distribution", "categories")),
    "interval": (
        bp.Interval(0, 1, points=20),
        ["0..1/20"],
        ("release", "mean", "distribution", "categories"),
    ),
    "items": (bp.Items(FLAT["labels"], loss=FLAT["loss"]), ["items.json"], ("categories", "release")),
    "places": (
        bp.Points(cities().coordinates[:12], metric="haversine", labels=list(cities().names[:12])),
        ["places.csv"],
        ("release", "map"),
    ),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where the files of the commands are."""
    (tmp_path / "items.json").write_text(json.dumps(FLAT), encoding="utf-8")
    rows = [f"{name},{lat},{lon}" for name, (lat, lon) in zip(cities().names[:12], cities().coordinates, strict=False)]
    (tmp_path / "places.csv").write_text("\n".join(["name,lat,lon", *rows]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def said(capsys, *arguments):
    assert main([str(each) for each in arguments]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures("folder")
@pytest.mark.grid(4)
@pytest.mark.parametrize("epsilon", ["0.3", "2"])
@pytest.mark.parametrize("name", DOMAINS)
def test_every_surface_recommends_the_same_for_one_purpose(name, epsilon, capsys):
    domain, options, purposes = DOMAINS[name]
    asked = [*options, "--epsilon", epsilon, "--n", USERS, "--json"]
    compared = bp.compare(domain, epsilon, n=USERS)
    on_the_command_line = said(capsys, "design", *asked, "--compare")
    assert [each.purpose for each in compared.advice] == list(purposes)
    for purpose, advice, printed in zip(purposes, compared.advice, on_the_command_line["advice"], strict=True):
        found = bp.recommend(domain, epsilon, purpose, n=USERS)
        assert found.name == advice.name == printed["mechanism"]
        assert str(found) == str(advice) and found.ratio <= 1.05
        designed = said(capsys, "design", *asked, "--for", purpose)
        assert bp.from_spec(designed["spec"]) == found.mechanism
        # The error is that of the mechanism that is handed over.
        assert designed[WANTED[purpose].figure] == pytest.approx(found.error, rel=1e-9)


@pytest.mark.usefixtures("folder")
@pytest.mark.grid(3)
@pytest.mark.parametrize("epsilon", ["0.3", "2"])
@pytest.mark.parametrize("name", ["few", "ages", "interval", "items"])
def test_those_who_ask_for_people_or_for_attributes_get_the_same(name, epsilon, capsys):
    domain, options, purposes = DOMAINS[name]
    shares = bp.recommend(domain, epsilon, "categories", n=USERS)
    assert bp.sample_size(domain, epsilon, share_within=0.1).mechanism == shares.mechanism
    printed = said(capsys, "design", *options, "--epsilon", epsilon, "--share-within", 0.1, "--json")
    assert printed["mechanism"] == repr(shares.mechanism)
    told = bp.split_or_sample({"it": domain}, epsilon, USERS, of="histogram").best
    assert told.record.mechanisms["it"] == shares.mechanism
    assert told.errors["it"] == pytest.approx(shares.error, rel=1e-12)
    if "mean" in purposes:
        for of, purpose in (("mean", "mean"), ("cdf", "distribution")):
            alone = bp.recommend(domain, epsilon, purpose, n=USERS)
            assert bp.split_or_sample({"it": domain}, epsilon, USERS, of=of).record.mechanisms["it"] == alone.mechanism
        mean = bp.recommend(domain, epsilon, "mean", n=USERS)
        assert bp.sample_size(domain, epsilon, mean_within=0.1).mechanism == mean.mechanism


def test_the_docs_say_what_is_recommended_for_ages():
    text, ages = (DOCS / "advisor.md").read_text(encoding="utf-8"), bp.Integers(18, 90)
    expected = {
        '`"release"` | `bp.Anchored`': "release",
        '`"mean"` | padded BRR, `m="mean"`': "mean",
        '`"distribution"` | padded BRR, `m="cdf"`': "distribution",
        "otherwise Subset Selection": "categories",
    }
    made = {
        "release": bp.Anchored(ages, 1),
        "mean": bp.BRR(ages, 1, m="mean", edges="padded"),
        "distribution": bp.BRR(ages, 1, m="cdf", edges="padded"),
        "categories": bp.SubsetSelection(ages, 1),
    }
    for words, purpose in expected.items():
        assert words in text
        assert bp.recommend(ages, 1, purpose).mechanism == made[purpose]


def test_with_no_purpose_or_several_nothing_is_recommended(monkeypatch):
    with pytest.raises(bp.errors.InputError, match="Expected one purpose, got 'statistics', which is several"):
        bp.recommend(bp.Integers(1, 9), 1, "statistics")
    with pytest.raises(bp.errors.InputError, match="Expected purpose as one of 'release'"):
        bp.recommend(bp.Integers(1, 9), 1, "fun")
    with pytest.raises(bp.errors.DesignError, match="are not numbers and have no mean; ask for 'categories'"):
        bp.recommend(DOMAINS["items"][0], 1, "mean")
    monkeypatch.setattr(recommending, "look_at", lambda *_, **__: [])
    with pytest.raises(bp.errors.DesignError, match="No mechanism serves the purpose 'categories' here and can be"):
        bp.recommend(bp.Integers(1, 9), 1, "categories")
