"""Surveys of simulated people through browsers and the collector: how often its intervals hold the truth.

    python bench/collect_survey.py [--runs 20] [--people 2000] [--seed 40]

In each run people are drawn from populations that are known here. Half of them answer in Chromium and half in Firefox,
at the same time: the participant's page, its form, consent, draw and request are the real ones, one person after
another, with emptied storage. The operator's answers are then read from the collector. An interval of 95 % holds the
truth of the population that people were drawn from in 95 % of surveys. How often it does is counted for every number
and share that is shown. Those of one question hang together; of three questions one each is independent of all others,
and in 20 surveys these 60 are enough to tell: right intervals fail at most once in 10⁶, half as wide ones in 92 of 100.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.cookiejar import CookieJar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from scipy.stats import binom

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

STUDY: Final = """
title = "Readers of the Courier"
ends = 2099-12-31
[questions.age]
ask = "How old are you?"
domain = { integers = [18, 90] }
epsilon = 1
[questions.section]
ask = "Which section do you read first?"
domain = { categories = ["news", "sport", "science", "culture"] }
epsilon = 1
[questions.days]
ask = "On how many days of a week do you read it?"
domain = { integers = [0, 6] }
epsilon = 1
"""
BROWSERS: Final = ("chrome", "firefox")
CONFIDENCE: Final = 0.95
FALSE_ALARM: Final = 1e-6
ALL: Final = 1 - 1e-9  # of a range that holds every value: its share is 1, which is no finding
HEADLINES: Final = ("age: mean", "section: news", "days: mean")
"""One of each question, named before anything was drawn."""
CLIENT: Final = Path(__file__).parents[1] / "client"


@dataclass(frozen=True)
class Population:
    """The possible answers of a question and how common they are."""

    values: tuple[Any, ...]
    shares: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """The mean of numbers."""
        return float(np.dot(self.values, self.shares))

    def share(self, name: str) -> float:
        """The share of a value, or of a range as the answers name it."""
        ends = re.fullmatch(r"(\d+)(?:\D+(\d+))?", name)
        if ends is None:
            return float(self.shares[self.values.index(name)])
        low, high = int(ends[1]), int(ends[2] or ends[1])
        return float(sum(self.shares[self.values.index(value)] for value in range(low, high + 1)))


def _shaped(values: Any, weights: Any) -> Population:  # noqa: ANN401
    shares = np.asarray(weights, dtype=float)
    return Population(tuple(values), shares / shares.sum())


AGES: Final = np.arange(18, 91)
POPULATIONS: Final = {
    "age": _shaped(AGES.tolist(), np.exp(-((AGES - 34) ** 2) / 200) + 0.5 * np.exp(-((AGES - 66) ** 2) / 120)),
    "section": _shaped(("news", "sport", "science", "culture"), [45, 30, 20, 5]),
    "days": _shaped(range(7), [5, 20, 15, 10, 8, 12, 30]),
}


def people(count: int, random: np.random.Generator) -> list[list[int]]:
    """The answers of people, as the browsers' driver types or presses them."""
    chosen = {name: random.choice(len(each.values), count, p=each.shares) for name, each in POPULATIONS.items()}
    typed = AGES[chosen["age"]]
    return np.column_stack([typed, chosen["section"], chosen["days"]]).tolist()


def survey(everybody: list[list[int]]) -> tuple[list[dict[str, Any]], list[str]]:
    """The operator's answers when everybody has taken part, and how fast that was in each browser."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "readers.toml"
        file.write_text(STUDY, "utf-8")
        command = [sys.executable, "-m", "bipartite", "collect", str(file), "--port", "0", "--rate", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603 (ours)
            try:
                participants, once = links(server)
                halves = [everybody[i :: len(BROWSERS)] for i in range(len(BROWSERS))]
                with ThreadPoolExecutor() as pool:
                    speeds = list(pool.map(through, BROWSERS, [participants] * len(BROWSERS), halves))
                return operators_answers(participants, once), speeds
            finally:
                server.terminate()


def links(server: subprocess.Popen[str]) -> tuple[str, str]:
    """The two links that the collector prints when it listens: the participants', and the operator's."""
    found = []
    for line in server.stdout or ():
        found += re.findall(r"http://\S+", line)
        if len(found) == len(("participants", "operator")):
            wait_for(found[0])
            return found[0], found[1]
    sys.exit("The collector did not start.")


def wait_for(page: str) -> None:
    """Until the first worker answers, which starts after the links were printed; a minute at most."""
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"{page}healthz"):  # noqa: S310 (ours)
                return
        except OSError:
            time.sleep(0.1)
    sys.exit("The collector did not answer within a minute.")


def through(browser: str, page: str, everybody: list[list[int]]) -> str:
    """Let people answer in a browser; how fast, in words."""
    done = subprocess.run(  # noqa: S603 (ours)
        ["node", "browsers/survey.mjs", browser, page],  # noqa: S607 (found on the PATH)
        cwd=CLIENT,
        input=json.dumps(everybody),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr)
    told = json.loads(done.stdout)
    assert told["sent"] == len(everybody) * len(POPULATIONS)
    again = f", “Try again” {told['again']} times" if told["again"] else ""
    return f"{browser} {len(everybody) / told['seconds']:.1f} people/s{again}"


def operators_answers(page: str, link: str) -> list[dict[str, Any]]:
    """Use the one-time link, and read the answers."""
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    with opener.open(urllib.request.Request(link, method="POST")):  # noqa: S310 (ours)
        pass
    asked = urllib.request.Request(f"{page}answers", headers={"Accept": "application/json"})  # noqa: S310 (ours)
    with opener.open(asked) as answer:
        found: list[dict[str, Any]] = json.load(answer)["answers"]
    return found


def hits(answers: list[dict[str, Any]], count: int) -> Iterator[tuple[str, bool]]:
    """For each number and share that is shown, whether the truth is in its interval."""
    for view in answers:
        assert view["n"] == count, f"{view['n']} reports to {view['question']} of {count}"
        population = POPULATIONS[view["question"]]
        for number in view["numbers"]:
            if number["name"] == "Mean":
                yield f"{view['question']}: mean", number["low"] <= population.mean <= number["high"]
        for row in view["rows"]:
            (name,) = row["names"]
            if row["low"] is not None and population.share(name) < ALL:
                yield f"{view['question']}: {name}", row["low"] <= population.share(name) <= row["high"]


def main() -> None:
    """Run the surveys, say how they end, and fail if intervals miss too often."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--people", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=40, help="of the people; devices draw from their own source")
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    found: dict[str, list[bool]] = defaultdict(list)
    for run in range(options.runs):
        answers, speeds = survey(people(options.people, random))
        missed = []
        for name, hit in hits(answers, options.people):
            found[name].append(hit)
            missed += [] if hit else [name]
        print(
            f"survey {run + 1}: {'; '.join(speeds)}; not in its interval: {', '.join(missed) or 'nothing'}", flush=True
        )
    for name, each in found.items():
        print(f"{name}: {sum(each)} of {len(each)} intervals hold the truth")
    every = [hit for each in found.values() for hit in each]
    print(f"all: {sum(every)} of {len(every)}, {100 * sum(every) / len(every):.1f} %")
    told = [hit for name in HEADLINES for hit in found[name]]
    least = int(binom.ppf(FALSE_ALARM, len(told), CONFIDENCE))
    print(f"{', '.join(HEADLINES)}: {sum(told)} of {len(told)}, at least {least}")
    if sum(told) < least:
        sys.exit("The truth is in the intervals too rarely.")


if __name__ == "__main__":
    main()
