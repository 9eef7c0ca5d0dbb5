import base64
import hashlib
import json
import re
from pathlib import Path

import pytest

from bipartite.collect.pages import Page, participant
from bipartite.collect.study import Study, read_study

HOSTILE = "</script><img src=x onerror=alert(1)> & 'é'"


def study(folder: Path, *, public: bool = False) -> Study:
    file = folder / "readers.toml"
    words = json.dumps(HOSTILE)
    file.write_text(
        f"""
        title = {words}
        text = {words}
        ends = 2031-02-07
        public = {str(public).lower()}
        [questions.age]
        ask = {words}
        domain = {{ integers = [18, 90] }}
        epsilon = 1
        [questions.home]
        ask = "Your home"
        sample = 1
        [questions.home.record.pet]
        ask = {words}
        domain = {{ categories = ["a cat", {words}] }}
        epsilon = 0.5
        [questions.home.record.people]
        ask = "How many?"
        domain = {{ integers = [0, 6] }}
        epsilon = 0.5
        """,
        "utf-8",
    )
    return read_study(file)


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return participant(study(tmp_path), closed=False)


def within(page: Page, tag: str) -> str:
    (found,) = re.findall(rf"<{tag}>(.*?)</{tag.partition(' ')[0]}>", page.html.decode(), re.DOTALL)
    return found


def test_the_policy_names_the_very_style_and_script_that_stand_in_the_page(page: Page) -> None:
    policy = dict(part.split(" ", 1) for part in page.headers["content-security-policy"].split("; "))
    for tag in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(within(page, tag).encode()).digest()).decode()
        assert policy.pop(f"{tag}-src") == f"'sha256-{digest}'"
    assert policy == {
        "default-src": "'none'",
        "connect-src": "'self'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    assert page.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("closed", [False, True])
def test_the_page_loads_nothing(tmp_path: Path, closed: bool) -> None:
    html = participant(study(tmp_path, public=True), closed=closed).html.decode()
    assert set(re.findall(r'(?:src|href|action)="([^"]*)"', html)) == {"data:,", "answers"}
    assert not re.search(r"https?:|@import|url\(|style=| on\w+=\"", html)


def test_the_script_reads_the_study_as_it_is_and_no_word_of_it_ends_the_page(tmp_path: Path) -> None:
    asked = study(tmp_path)
    page = participant(asked, closed=False)
    assert b"<img" not in page.html
    held = json.loads(within(page, 'script type="application/json" id="study"'))
    age, home = asked.questions
    pet, people = home.parts
    assert held == {
        "study": "readers",
        "questions": [
            {
                "name": "age",
                "ask": HOSTILE,
                "record": False,
                "sample": None,
                "parts": [{"name": "age", "ask": HOSTILE, "spec": age.parts[0].spec}],
            },
            {
                "name": "home",
                "ask": "Your home",
                "record": True,
                "sample": 1,
                "parts": [
                    {"name": "pet", "ask": HOSTILE, "spec": pet.spec},
                    {"name": "people", "ask": "How many?", "spec": people.spec},
                ],
            },
        ],
    }


def test_without_its_script_the_page_says_what_is_asked_and_until_when(page: Page) -> None:
    before_the_script = page.html.decode().partition('<script type="application/json"')[0]
    for words in ("How many?", "Your home", "the end of 7 February 2031 (UTC)", "JavaScript is off"):
        assert words in before_the_script


def test_a_study_that_has_ended_has_no_script_and_says_so(tmp_path: Path) -> None:
    page = participant(study(tmp_path), closed=True)
    html = page.html.decode()
    assert "This study has ended" in html
    assert "2031" not in html  # it may have been closed before its last day
    assert "<script" not in html
    assert "answers" not in html
    assert "script-src 'none'" in page.headers["content-security-policy"]
    assert "connect-src 'none'" in page.headers["content-security-policy"]


def test_only_a_public_study_leads_to_its_answers(tmp_path: Path) -> None:
    pages = [participant(study(tmp_path, public=public), closed=False).html for public in (False, True)]
    assert [b'href="answers"' in html for html in pages] == [False, True]
