"""``python -m reproduction.datasets.build_places FOLDER``: the four files of places that experiments use, built anew.

Each is made of what other authors published in a repository, at the commits below: taken from ``--clones``, or looked
for in the folder that ``BIPARTITE_DATA`` names and in the cache, then fetched. A file is written only where its content
has the checksum in ``sources.toml``, and so is that of the experiments byte for byte (unpacked: what gzip makes of it
depends on its version). From clones of the three repositories all four came out so.

- ``gowalla_authors_1000.txt`` is the BRR authors' own file. How they drew it from Gowalla is not published.
- ``gowalla_stacp_user_poi_counts.csv.gz`` and ``foursquare_us_stacp_user_poi_counts.csv.gz``: the train, tune and test
  parts of STACP together, by user and place, with each place's coordinates as they are written. How STACP's authors
  chose users and places from the check-ins of Gowalla and Foursquare is not in their repository.
- ``foursquare_NYC_filtered_checkins.csv.gz``: the published table with Unix line ends. The program beside it that makes
  it from TSMC2014, ``preprocess.py``, is not run here: TSMC2014's archive could not be reached.
"""

import argparse
import gzip
import hashlib
import io
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import pandas as pd

from bipartite.errors import BipartiteError, DataFileError
from bipartite.files import write_atomically
from reproduction.datasets.finding import find
from reproduction.datasets.opening import opened
from reproduction.datasets.sources import SOURCES, File, Source

_HOST: Final = "https://raw.githubusercontent.com"
_BRR: Final = "zpbh/BipartiteRR/19341a33731df57fbed2730bef6ee060071f4d7d"
_STACP: Final = "rahmanidashti/STACP/5ec67e9da14bf07e7871e70ed74b2ecd0acc0011"
_NEXT_POI: Final = "Laswell1551/less-is-more-nextpoi/5102ec34f5600d4f10d436f8bffe5bf3f34a116c"
_PARTS: Final = ("train", "tune", "test", "poi_coos")


def joined(*parts: bytes) -> bytes:
    """Counts of STACP with the coordinates of the last part beside them, by user and place."""
    *counts, places = (io.BytesIO(part) for part in parts)
    visits = pd.concat([pd.read_csv(each, sep="\t", names=["user", "poi", "count"], dtype="int64") for each in counts])
    where = pd.read_csv(places, sep="\t", names=["poi", "lat", "lon"], dtype={"poi": "int64", "lat": str, "lon": str})
    table = visits.merge(where, on="poi", validate="many_to_one").sort_values(["user", "poi"], kind="stable")
    made: str = table[["user", "poi", "lat", "lon", "count"]].to_csv(index=False, lineterminator="\n")
    return made.encode()


def with_unix_line_ends(content: bytes) -> bytes:
    """The same lines, ended otherwise."""
    return content.replace(b"\r\n", b"\n")


RECIPES: Final[dict[str, tuple[Callable[..., bytes], tuple[str, ...]]]] = {
    "gowalla-authors-1000": (bytes, (f"{_BRR}/code/L-SRR/data_gowalla.txt",)),
    "gowalla-stacp": (joined, tuple(f"{_STACP}/datasets/gowalla_u5628/Gowalla_{part}.txt" for part in _PARTS)),
    "foursquare-us-stacp": (
        joined,
        tuple(f"{_STACP}/datasets/foursquare_u7642/Foursquare_{part}.txt" for part in _PARTS),
    ),
    "foursquare-nyc-filtered": (with_unix_line_ends, (f"{_NEXT_POI}/data/processed/nyc/checkins.csv.gz",)),
}
"""For each data set, what makes it, and of which files: owner, repository, commit and path."""


def published(address: str, clones: Path | None) -> bytes:
    """What an author published there, unpacked."""
    _, repository, _, path = address.split("/", 3)
    file = File(f"{repository}-{Path(path).name}", (f"{_HOST}/{address}",))
    if clones is not None and (clones / repository / path).is_file():
        return opened(clones / repository / path, file).content
    return find(Source(file.name, 1, "", "", {"data": (file,)})).content


def build(name: str, folder: Path, clones: Path | None = None) -> Path:
    """Write the file of a data set of places.

    Raises
    ------
    MissingDataError
        What it is made of is not here and could not be fetched.
    DataFileError
        What comes out is not the file that the experiments read; nothing is written.
    """
    make, addresses = RECIPES[name]
    (file,) = SOURCES[name].parts["data"]
    content = make(*(published(each, clones) for each in addresses))
    digest = hashlib.sha256(content).hexdigest()
    if digest != file.sha256:
        raise DataFileError(
            f"Expected {file.name}, made of {', '.join(addresses)}, to have sha256 {file.sha256}, got {digest}: take "
            "those files at these commits, with the line ends that they have there."
        )
    write_atomically(folder / file.name, gzip.compress(content, mtime=0) if file.name.endswith(".gz") else content)
    return folder / file.name


def main(arguments: Sequence[str] | None = None) -> None:
    """Build all four."""
    parser = argparse.ArgumentParser(prog="python -m reproduction.datasets.build_places", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="where to write the files; made if it is not there")
    parser.add_argument("--clones", metavar="CLONES", type=Path, help="a folder of clones of the three repositories")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in RECIPES:
        try:
            path = build(name, options.folder, options.clones)
        except BipartiteError as error:
            sys.exit(str(error))
        sys.stdout.write(f"{path}: the content has sha256 {SOURCES[name].parts['data'][0].sha256}, as expected\n")


if __name__ == "__main__":
    main()
