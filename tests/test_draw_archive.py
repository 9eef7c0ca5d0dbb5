"""The archive of the draw: the page, every vector and what they name, the same bytes each time."""

import json
import os
import re
import zipfile
from pathlib import Path

import pytest

import draw_archive

VECTORS = Path(__file__).parent / "vectors"


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return draw_archive.build(tmp_path_factory.mktemp("dist"))


def test_it_is_named_after_the_version_of_the_page(archive):
    assert archive.name == "bipartite-draw-1.zip"


def test_it_holds_the_page_every_vector_and_every_spec_that_a_vector_names(archive):
    with zipfile.ZipFile(archive) as held:
        root = archive.stem
        for path in VECTORS.glob("*.json"):
            assert held.read(f"{root}/vectors/{path.name}") == path.read_bytes()
        tables = json.loads(held.read(f"{root}/vectors/tables.json"))
        for group in tables:
            assert json.loads(held.read(f"{root}/golden/v2/{group['spec']}"))["bipartite"] == 2
        page = held.read(f"{root}/draw.md").decode()
        readme = held.read(f"{root}/README.md").decode()
        assert len(held.namelist()) == 3 + len(list(VECTORS.glob("*.json"))) + len(tables)
    assert "](" not in page, "a link leads out of the archive"
    count = int(re.search(r"holds ([\d,]+) vectors", readme)[1].replace(",", ""))
    assert count == sum(
        len(group.get("vectors", [group])) for path in VECTORS.glob("*.json") for group in json.loads(path.read_text())
    )


def test_the_page_names_every_file_of_vectors(archive):
    with zipfile.ZipFile(archive) as held:
        table = held.read(f"{archive.stem}/draw.md").decode().split("## 22. The vectors")[1]
    assert set(re.findall(r"`(\w+\.json)`", table)) == {path.name for path in VECTORS.glob("*.json")}


def test_the_same_files_give_the_same_bytes(archive, tmp_path):
    before = os.umask(0o077)
    try:
        again = draw_archive.build(tmp_path)
    finally:
        os.umask(before)
    assert again.read_bytes() == archive.read_bytes()


def test_a_page_without_a_version_is_an_error(tmp_path, monkeypatch):
    page = tmp_path / "draw.md"
    page.write_text("# The draw\n", encoding="utf-8")
    monkeypatch.setattr(draw_archive, "PAGE", page)
    with pytest.raises(SystemExit, match="states no version"):
        draw_archive.build(tmp_path)
