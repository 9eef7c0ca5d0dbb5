"""Where each public data set comes from: official addresses, checksums as far as they are known, licence, citation.

The one place for these facts. A checksum is written down only where it is known to be that of the publisher's own
bytes, or where it names a copy that is known; a publisher's file whose checksum is not known is accepted as it comes,
and its provenance says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_UCI: Final = "https://archive.ics.uci.edu"
_CC_BY: Final = "CC BY 4.0"
_RESEARCH: Final = "research use; cite the paper"


@dataclass(frozen=True)
class File:
    """One file that holds a part of a data set, as its publisher offers it or as a copy that is known."""

    name: str
    """What the file is called in the folder of data sets and in the cache."""
    urls: tuple[str, ...] = ()
    """The publisher's address, then its mirrors; none where the file is a copy that cannot be fetched."""
    sha256: str | None = None
    """Of these bytes. None: no checksum of the publisher's file is known."""
    content_sha256: str | None = None
    """Of what the file holds once it is unpacked; the publisher's own bytes."""
    members: tuple[str, ...] = ()
    """The way through archives: the file in the archive, or in the archive in the archive."""
    copy_sha256: str | None = None
    """A copy under the publisher's file name, known not to be proven the publisher's bytes."""
    is_copy: bool = False
    """Content of the publisher, put together by others."""
    note: str = ""
    """What to know about these bytes."""


@dataclass(frozen=True)
class Source:
    """A data set: its files, and what to say about them."""

    name: str
    call: str
    """How it is read in Python."""
    rows: int
    """As published, or as counted in the copy that is known."""
    licence: str
    citation: str
    parts: Mapping[str, tuple[File, ...]] = field(repr=False)
    """For each part the files that can serve, the best first."""

    @property
    def url(self) -> str | None:
        """The publisher's address; None where the data set is a copy that cannot be fetched."""
        return next((url for files in self.parts.values() for file in files for url in file.urls), None)


def _of(**parts: File | tuple[File, ...]) -> Mapping[str, tuple[File, ...]]:
    return MappingProxyType({name: part if isinstance(part, tuple) else (part,) for name, part in parts.items()})


def _mnist(name: str, sha256: str) -> File:
    hosts = ("http://yann.lecun.com/exdb/mnist", "https://ossci-datasets.s3.amazonaws.com/mnist")
    return File(name, tuple(f"{host}/{name}" for host in hosts), sha256)


def _adult(name: str, sha256: str) -> tuple[File, ...]:
    # The archive's checksum is not known; what it holds is checked.
    archive = f"{_UCI}/static/public/2/adult.zip"
    return (
        File(name, (f"{_UCI}/ml/machine-learning-databases/adult/{name}",), sha256),
        File("adult.zip", (archive,), content_sha256=sha256, members=(name,)),
    )


def _tsmc(name: str) -> tuple[File, ...]:
    hosts = ("http://www-public.it-sudparis.eu", "http://www-public.tem-tsp.eu")
    urls = tuple(f"{host}/~zhang_da/pub/dataset_tsmc2014.zip" for host in hosts)
    return (File("dataset_tsmc2014.zip", urls, members=(name,)), File(name))


def _subset(name: str, sha256: str, note: str) -> Mapping[str, tuple[File, ...]]:
    return _of(data=File(name, sha256=sha256, is_copy=True, note=note))


_ABALONE: Final = "de37cdcdcaaa50c309d514f248f7c2302a5f1f88c168905eba23fe2fbc78449f"
_BANK: Final = "74adfc578bf77a7ff4bb1ba4a9f8709d9e3c6907342959c2c8416847e0afb4d8"
_CHO: Final = (
    "E. Cho, S. A. Myers and J. Leskovec: Friendship and Mobility: User Movement in Location-Based Social Networks. "
    "KDD 2011."
)
_YANG: Final = (
    "D. Yang, D. Zhang, V. W. Zheng and Z. Yu: Modeling User Activity Preference by Leveraging User Spatial Temporal "
    "Characteristics in LBSNs. IEEE Transactions on Systems, Man, and Cybernetics: Systems 45(1), 2015."
)
_FILTERED: Final = "Users and places with few visits were removed by its authors: denser than raw Gowalla."

_ALL: Final = (
    Source(
        name="abalone",
        call="abalone()",
        rows=4_177,
        licence=_CC_BY,
        citation="W. Nash, T. Sellers, S. Talbot, A. Cawthorn and W. Ford: Abalone. UCI Machine Learning Repository, "
        "1994.",
        parts=_of(
            data=(
                File("abalone.data", (f"{_UCI}/ml/machine-learning-databases/abalone/abalone.data",), _ABALONE),
                File(
                    "abalone.zip",
                    (f"{_UCI}/static/public/1/abalone.zip",),
                    content_sha256=_ABALONE,
                    members=("abalone.data",),
                ),
            )
        ),
    ),
    Source(
        name="adult",
        call="adult()",
        rows=48_842,
        licence=_CC_BY,
        citation="B. Becker and R. Kohavi: Adult. UCI Machine Learning Repository, 1996.",
        parts=_of(
            train=_adult("adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),
            test=_adult("adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"),
        ),
    ),
    Source(
        name="bank",
        call="bank()",
        rows=41_188,
        licence=_CC_BY,
        citation="S. Moro, P. Rita and P. Cortez: Bank Marketing. UCI Machine Learning Repository, 2014.",
        parts=_of(
            data=(
                File(
                    "bank+marketing.zip",
                    (f"{_UCI}/static/public/222/bank+marketing.zip",),
                    content_sha256=_BANK,
                    members=("bank-additional.zip", "bank-additional-full.csv"),
                ),
                File(
                    "bank-additional-full.csv.gz",
                    sha256="25ef5a7f820659c9010405d079b068761b9e4a75c232a6271ee6a77fc3de52ae",
                    content_sha256=_BANK,
                ),
                File("bank-additional-full.csv", content_sha256=_BANK),
            )
        ),
    ),
    Source(
        name="bias",
        call="bias()",
        rows=7_750,
        licence=_CC_BY,
        citation="D. Cho, C. Yoo, J. Im and D.-H. Cha: Comparative Assessment of Various Machine Learning-Based Bias "
        "Correction Methods for Numerical Weather Prediction Model Forecasts of Extreme Air Temperatures in Urban "
        "Areas. Earth and Space Science 7, 2020.",
        parts=_of(
            data=File(
                "Bias_correction_ucl.csv",
                (f"{_UCI}/ml/machine-learning-databases/00514/Bias_correction_ucl.csv",),
                copy_sha256="f1e630ba9a637e9dae3e2c75c9ec46c50c7f3a54377fc177dce6557f08676552",
            )
        ),
    ),
    Source(
        name="superconduct",
        call="superconduct()",
        rows=21_263,
        licence=_CC_BY,
        citation="K. Hamidieh: A Data-Driven Statistical Model for Predicting the Critical Temperature of a "
        "Superconductor. Computational Materials Science 154, 2018.",
        parts=_of(
            data=(
                File(
                    "superconductivty+data.zip",  # spelt so by the publisher
                    (f"{_UCI}/static/public/464/superconductivty+data.zip",),
                    members=("train.csv",),
                ),
                File(
                    "superconduct_train_reconstructed.csv.gz",
                    sha256="9093688cde86f14d83eb0b6cfaf8aa0908595f0414de552606d7ad5c12bda8f4",
                    is_copy=True,
                    note="A reconstruction: rows in another order than the publisher's, and number_of_elements, "
                    "gmean_fie, range_Valence, entropy_ThermalConductivity and wtd_entropy_ThermalConductivity "
                    "recomputed.",
                ),
            )
        ),
    ),
    Source(
        name="mnist",
        call="mnist()",
        rows=70_000,
        licence="CC BY-SA 3.0 (as commonly stated)",
        citation="Y. LeCun, L. Bottou, Y. Bengio and P. Haffner: Gradient-Based Learning Applied to Document "
        "Recognition. Proceedings of the IEEE 86(11), 1998.",
        parts=_of(
            train_images=_mnist(
                "train-images-idx3-ubyte.gz", "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"
            ),
            train_labels=_mnist(
                "train-labels-idx1-ubyte.gz", "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"
            ),
            test_images=_mnist(
                "t10k-images-idx3-ubyte.gz", "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"
            ),
            test_labels=_mnist(
                "t10k-labels-idx1-ubyte.gz", "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"
            ),
        ),
    ),
    Source(
        name="gowalla",
        call="gowalla()",
        rows=6_442_890,
        licence=_RESEARCH,
        citation=_CHO,
        parts=_of(
            data=(
                File(
                    "loc-gowalla_totalCheckins.txt.gz",
                    ("https://snap.stanford.edu/data/loc-gowalla_totalCheckins.txt.gz",),
                ),
                File("loc-gowalla_totalCheckins.txt"),
            )
        ),
    ),
    Source(
        name="gowalla-authors-1000",
        call='gowalla("authors-1000")',
        rows=1_000,
        licence=_RESEARCH,
        citation=_CHO,
        parts=_subset(
            "gowalla_authors_1000.txt",
            "0e26e4f90eaa72d7b068c1d0483db8275c1f6db3333c9c9d4154daf4efe1945b",
            "The places of the BRR paper's own experiment; https://github.com/zpbh/BipartiteRR @19341a3 "
            "code/L-SRR/data_gowalla.txt.",
        ),
    ),
    Source(
        name="gowalla-nyc",
        call='gowalla("nyc")',
        rows=138_957,
        licence=_RESEARCH,
        citation=_CHO,
        parts=_subset(
            "loc-gowalla_NYC_subset.txt.gz",
            "885d5e38761a9d0381533ced16c3cb4b7ba0d1c1cf7eb1fd817e5548e5539f11",
            "40.4844 to 40.9176 N, 74.2586 to 73.7013 W; https://github.com/rohitpandey13/academy @7e7919a "
            "tutorials/geo-located-data/jupyter/notebooks/data/gowalla_events.csv.gz. Some coordinates were re-written "
            "with float tails.",
        ),
    ),
    Source(
        name="gowalla-paris",
        call='gowalla("paris")',
        rows=17_496,
        licence=_RESEARCH,
        citation=_CHO,
        parts=_subset(
            "loc-gowalla_Paris_subset.txt.gz",
            "31ade3197cb5cc83890b2487340ea7472b5c731076ee8864e60a97a5a65ca457",
            "48.5856 to 49.1024 N, 2.0855 to 2.6122 E; https://github.com/jubenjum/dssp5-proj @f628f2e "
            "data/loc-gowalla_totalCheckins_Paris.txt.",
        ),
    ),
    Source(
        name="gowalla-stacp",
        call='gowalla("stacp")',
        rows=378_968,
        licence=_RESEARCH,
        citation=_CHO,
        parts=_subset(
            "gowalla_stacp_user_poi_counts.csv.gz",
            "a35326bdf8e9f57aa6cad01455fcfd858cd48ba9562ed5b5b3965375e614cd40",
            f"One row a user and place, with its count. {_FILTERED} Ids of its own; "
            "https://github.com/rahmanidashti/STACP @5ec67e9 datasets/gowalla_u5628/, parts joined.",
        ),
    ),
    Source(
        name="gowalla-lbsn1",
        call='gowalla("lbsn1")',
        rows=255_140,
        licence=_RESEARCH,
        citation=_CHO,
        parts=_subset(
            "gowalla_lbsn1_tune_test_counts.csv.gz",
            "c356ddb86d3c89751be7c9fbe49aae7f22ffbea6f9614777378616aa5367ffe2",
            "The tune and test parts of a set of 1,278,274 check-ins; its train part is missing. "
            f"{_FILTERED} https://github.com/rahmanidashti/LBSNDatasets @b55ccca Gowalla/Gowalla_1/.",
        ),
    ),
    Source(
        name="gowalla-lbsn3",
        call='gowalla("lbsn3")',
        rows=157_251,
        licence=_RESEARCH,
        citation=_CHO,
        parts=_subset(
            "gowalla_lbsn3_checkins.csv.gz",
            "7f26f033b03ab8dd70f861f437e6d3663f381b6313d41e8c824873ad00c6355b",
            f"{_FILTERED} https://github.com/rahmanidashti/LBSNDatasets @b55ccca Gowalla/Gowalla_3/.",
        ),
    ),
    Source(
        name="gowalla-ufsc",
        call='gowalla("ufsc")',
        rows=98_158,
        licence=_RESEARCH,
        citation=_CHO,
        parts=_subset(
            "gowalla_ufsc_checkins.csv.gz",
            "355deda89914d73ba2d2b902da3d13855c3ec7e7d1e3a3a76b80a4cb4b4a0c39",
            "300 users, weekday and minute without a date; https://github.com/bigdata-ufsc/datasets_v1_0 @3c28664 "
            "data/multiple_trajectories/Gowalla/, train and test joined.",
        ),
    ),
    Source(
        name="gowalla-locations-union",
        call='gowalla("locations-union")',
        rows=66_797,
        licence=_RESEARCH,
        citation=_CHO,
        parts=_subset(
            "gowalla_locations_union.csv.gz",
            "ad3caba78eccd65d58d972db0097fe9e299f50975dc43ba23300a6995d7eafb8",
            "Every distinct coordinate (to 6 decimals) of the other Gowalla subsets, unweighted: no sample of "
            "check-ins.",
        ),
    ),
    Source(
        name="gowalla-histogram",
        call="gowalla_histogram()",
        rows=256 * 256,
        licence=_RESEARCH,
        citation=_CHO,
        parts=_subset(
            "gowalla_dpbench_hist256.npz",
            "5daaf096b58287ceb1719b8aec0beabf50400db4b88315522729a8681212c110",
            "6,442,863 check-ins in 256 × 256 cells; box and order of the axes are not documented; "
            "https://github.com/dpcomp-org/dpcomp_core @233cfcc dpcomp_core/datafiles/2D/checkin_256_256.npy.",
        ),
    ),
    Source(
        name="foursquare-nyc",
        call='foursquare("nyc")',
        rows=227_428,
        licence=_RESEARCH,
        citation=_YANG,
        parts=_of(data=_tsmc("dataset_TSMC2014_NYC.txt")),
    ),
    Source(
        name="foursquare-tokyo",
        call='foursquare("tokyo")',
        rows=573_703,
        licence=_RESEARCH,
        citation=_YANG,
        parts=_of(data=_tsmc("dataset_TSMC2014_TKY.txt")),
    ),
    Source(
        name="foursquare-nyc-filtered",
        call='foursquare("nyc", subset="filtered")',
        rows=113_344,
        licence=_RESEARCH,
        citation=_YANG,
        parts=_subset(
            "foursquare_NYC_filtered_checkins.csv.gz",
            "81c75fcca6ad06650216bf38819a6a0f425aa2af1507325ff92bebb326dbf605",
            "Users and places with at least 10 visits; https://github.com/Laswell1551/less-is-more-nextpoi @5102ec3 "
            "data/processed/nyc/checkins.csv.gz.",
        ),
    ),
    Source(
        name="foursquare-nyc-ufsc",
        call='foursquare("nyc", subset="ufsc")',
        rows=66_962,
        licence=_RESEARCH,
        citation=_YANG,
        parts=_subset(
            "foursquare_NYC_ufsc_checkins.csv.gz",
            "188f9c52976185cb54e7332dff6008984eb282f42b1ee3634322898083382c41",
            "193 users; weekday and hour without a date; price and rating −999 where they are missing; "
            "https://github.com/bigdata-ufsc/datasets_v1_0 Foursquare_NYC/, train and test joined.",
        ),
    ),
    Source(
        name="foursquare-us-stacp",
        call='foursquare("us", subset="stacp")',
        rows=277_405,
        licence=_RESEARCH,
        citation=_YANG,
        parts=_subset(
            "foursquare_us_stacp_user_poi_counts.csv.gz",
            "75302fb40b08f07503df0146a80841aec0c92023bd698edbe4dd2d2967f71c17",
            "One row a user and place, with its count; from the global set of 2012 and 2013, filtered by its authors; "
            "https://github.com/rahmanidashti/STACP datasets/foursquare_u7642/.",
        ),
    ),
    Source(
        name="foursquare-us-lbsn3",
        call='foursquare("us", subset="lbsn3")',
        rows=185_984,
        licence=_RESEARCH,
        citation=_YANG,
        parts=_subset(
            "foursquare_lbsn3_checkins.csv.gz",
            "90a13eb17359c92e7055029ff227d9dcf52b4aae1871603be83a51e9883b2e7f",
            "Filtered by its authors; https://github.com/rahmanidashti/LBSNDatasets Foursquare/Foursquare_3/.",
        ),
    ),
)

SOURCES: Final[Mapping[str, Source]] = MappingProxyType({source.name: source for source in _ALL})
"""Every data set that bipartite reads, by its name."""
