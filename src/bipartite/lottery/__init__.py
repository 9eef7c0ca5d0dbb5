"""Exact randomness: whole-number tickets, secure words and uniform draws; no float decides a report.

May import: no room.
Begin reading: deal.py, window.py.
"""

from typing import TYPE_CHECKING

from bipartite.lazily import lazily
from bipartite.lottery.bulk import Codec, ValuesRefusedError, draw_many
from bipartite.lottery.channel import Channel, Dense
from bipartite.lottery.deal import Deal
from bipartite.lottery.epsilon import Epsilon, log_between
from bipartite.lottery.integer_noise import discrete_laplace
from bipartite.lottery.kernel import PREPARE_FROM, announce, prepare
from bipartite.lottery.mixture import Mixture
from bipartite.lottery.noise import Noise
from bipartite.lottery.points import Nearest, needs_list
from bipartite.lottery.process import current_process
from bipartite.lottery.table import Table, check_table, issue_rows, totals_of
from bipartite.lottery.tickets import MAX_TOTAL, Tickets, TooFewTickets, issue_tickets
from bipartite.lottery.uniform import whole_numbers_below
from bipartite.lottery.window import Ring, Window
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
    "Channel",
    "Codec",
    "Deal",
    "Dense",
    "Epsilon",
    "FixedWords",
    "InsecureSeed",
    "Mixture",
    "Nearest",
    "Noise",
    "Ring",
    "Source",
    "Stream",
    "Table",
    "Tickets",
    "TooFewTickets",
    "ValuesRefusedError",
    "Window",
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

if not TYPE_CHECKING:  # loads nothing: a former name says what it is now
    __getattr__, __dir__ = lazily(__name__, {})
