"""Public data sets, read from a folder or fetched from their publishers: what the BRR paper's experiments use.

A file is looked for in the folder that the environment variable ``BIPARTITE_DATA`` names, then in the user's cache, and
then fetched from its official address into the cache. Nothing is fetched at import. Tables are pandas frames.
"""

from reproduction.datasets.finding import cache_folder, data_folder, find, present
from reproduction.datasets.opening import Found
from reproduction.datasets.places import CHECK_INS, check_ins, coordinates
from reproduction.datasets.sources import SOURCES, File, Source
from reproduction.datasets.tables import Images, abalone, adult, bank, bias, mnist, superconduct

__all__ = [
    "CHECK_INS",
    "SOURCES",
    "File",
    "Found",
    "Images",
    "Source",
    "abalone",
    "adult",
    "bank",
    "bias",
    "cache_folder",
    "check_ins",
    "coordinates",
    "data_folder",
    "find",
    "mnist",
    "present",
    "superconduct",
]
