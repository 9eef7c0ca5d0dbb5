"""Public data sets, read from a folder or fetched from their publishers: what the BRR paper's experiments use.

A file is looked for in the folder that the environment variable ``BIPARTITE_DATA`` names, then in the user's cache, and
then fetched from its official address into the cache (``pip install pooch``). Nothing is fetched at import.
"""

from reproduction.datasets.finding import cache_folder, data_folder, find, present
from reproduction.datasets.foursquare import foursquare
from reproduction.datasets.gowalla import gowalla, gowalla_blocks, gowalla_histogram
from reproduction.datasets.mnist import mnist
from reproduction.datasets.results import CheckIns, Histogram, Images, Provenance, Table, UsedFile
from reproduction.datasets.sources import SOURCES, File, Source
from reproduction.datasets.uci import abalone, adult, bank, bias, superconduct

__all__ = [
    "SOURCES",
    "CheckIns",
    "File",
    "Histogram",
    "Images",
    "Provenance",
    "Source",
    "Table",
    "UsedFile",
    "abalone",
    "adult",
    "bank",
    "bias",
    "cache_folder",
    "data_folder",
    "find",
    "foursquare",
    "gowalla",
    "gowalla_blocks",
    "gowalla_histogram",
    "mnist",
    "present",
    "superconduct",
]
