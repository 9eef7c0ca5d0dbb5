"""Exact randomness: whole-number tickets, secure words and uniform draws; no float decides a report.

May import: no room.
Begin reading: tickets.py, line.py.
"""

from bipartite.lottery.bulk import PREPARE_FROM, Codec, Lottery, ValuesRefusedError, announce, draw_many, prepare
from bipartite.lottery.epsilon import Epsilon, log_between
from bipartite.lottery.grouped import GroupedLottery
from bipartite.lottery.integer_noise import discrete_laplace
from bipartite.lottery.line import LineLottery
from bipartite.lottery.mixed import MixedLottery
from bipartite.lottery.noise import NoiseLottery
from bipartite.lottery.points import PointLottery, needs_list
from bipartite.lottery.process import current_process
from bipartite.lottery.regional import BlockLottery, WeightLottery
from bipartite.lottery.ring import RingLottery
from bipartite.lottery.rows import RowLottery, check_table, issue_rows, totals_of
from bipartite.lottery.tickets import MAX_TOTAL, Tickets, TooFewTickets, issue_tickets
from bipartite.lottery.uniform import whole_numbers_below
from bipartite.lottery.words import (
    SCALAR,
    FixedWords,
    InsecureSeed,
    Source,
    Stream,
    fixed_words,
    insecure_seed,
    is_secure,
    source_of,
)

__all__ = [
    "MAX_TOTAL",
    "PREPARE_FROM",
    "SCALAR",
    "BlockLottery",
    "Codec",
    "Epsilon",
    "FixedWords",
    "GroupedLottery",
    "InsecureSeed",
    "LineLottery",
    "Lottery",
    "MixedLottery",
    "NoiseLottery",
    "PointLottery",
    "RingLottery",
    "RowLottery",
    "Source",
    "Stream",
    "Tickets",
    "TooFewTickets",
    "ValuesRefusedError",
    "WeightLottery",
    "announce",
    "check_table",
    "current_process",
    "discrete_laplace",
    "draw_many",
    "fixed_words",
    "insecure_seed",
    "is_secure",
    "issue_rows",
    "issue_tickets",
    "log_between",
    "needs_list",
    "prepare",
    "source_of",
    "totals_of",
    "whole_numbers_below",
]
