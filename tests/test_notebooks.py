"""Notebooks run, give what is written in them, and become pages."""

import json
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm
from matplotlib import pyplot as plt

import bipartite as bp

ROOT = Path(__file__).parents[1]
TOOL = runpy.run_path(str(ROOT / "tools" / "notebooks.py"))
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
NUMBER = r"-?[0-9]+\.?[0-9]*"


def test_there_are_four_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["collector", "data-scientist", "mobility", "researcher"]


def test_a_data_scientist_writes_fifteen_lines():
    code = [cell["source"] for cell in TOOL["read"](NOTEBOOKS[1])["cells"] if cell["cell_type"] == "code"]
    lines = [line for cell in code for line in cell if line.strip()]
    assert len(lines) == 15 and max(map(len, lines)) <= 120


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_gives_what_is_written_in_it(path):
    stored = TOOL["read"](path)
    assert stored["nbformat"] == 4
    assert len({cell["id"] for cell in stored["cells"]}) == len(stored["cells"])
    found = TOOL["run"](stored)
    for now, then in zip(found["cells"], stored["cells"], strict=True):
        texts = [json.dumps(cell.get("outputs", []), ensure_ascii=False) for cell in (now, then)]
        # Words exactly; places in pictures to a third of a pixel, because sums may be rounded differently elsewhere.
        if "image/svg+xml" in texts[1]:
            assert re.sub(NUMBER, "0", texts[0]) == re.sub(NUMBER, "0", texts[1])
            places = [np.array([float(each) for each in re.findall(NUMBER, text)]) for text in texts]
            np.testing.assert_allclose(*places, atol=0.3)
        else:
            assert texts[0] == texts[1]


def test_least_squares_on_scores_is_least_squares_on_ratings_on_average():
    """What the data scientist's notebook says; reports in place of scores are biased, and this sees it.

    The averages of three coefficients over 100 seeds lie within 4.5 of their standard errors: a false alarm in 17,000.
    """
    women = sm.datasets.fair.load_pandas().data
    ratings, mech = women["rate_marriage"], bp.GRR(bp.Integers(1, 5), 1)
    fit = np.linalg.pinv(sm.add_constant(women[["yrs_married", "religious"]]).to_numpy())
    reports = [mech.privatize(ratings.to_numpy(), rng=bp.insecure_seed(seed)) for seed in range(100)]

    def beyond(responses):
        found = np.array([fit @ each for each in responses]) - fit @ ratings.to_numpy()
        return np.abs(found.mean(0)) / (found.std(0) / np.sqrt(len(found)))

    assert beyond([bp.scores(mech, each) for each in reports]).max() < 4.5
    assert beyond(reports).min() > 10


def notebook(*sources):
    cells = [{"cell_type": "code", "id": str(at), "metadata": {}, "source": [each]} for at, each in enumerate(sources)]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def test_cells_share_a_namespace_print_and_give_their_last_value():
    found = TOOL["run"](notebook("x = 2", "print(x)\nx + 1", "None"))
    assert [cell["execution_count"] for cell in found["cells"]] == [1, 2, 3]
    printed, value = found["cells"][1]["outputs"]
    assert printed["text"] == ["2\n"]
    assert value["data"] == {"text/plain": ["3"]}
    assert found["cells"][0]["outputs"] == found["cells"][2]["outputs"] == []


def test_figures_are_shown_in_place_of_their_axes_and_styles_stay_in_their_notebook():
    before = plt.rcParams["font.size"]
    drawn = "import matplotlib.pyplot as plt\nplt.rcParams['font.size'] = 31\nax = plt.subplot(label='Words.')"
    found = TOOL["run"](notebook(f"{drawn}\nax.plot([1, 2])", f"{drawn}\nax"))
    for cell, values in zip(found["cells"], (1, 0), strict=True):
        *value, figure = cell["outputs"]
        assert len(value) == values  # a list of lines is shown, as Jupyter does
        assert figure["output_type"] == "display_data" and "execution_count" not in figure
        svg = "".join(figure["data"]["image/svg+xml"])
        assert svg.startswith("<svg ") and 'aria-label="Words."' in svg
    assert plt.get_fignums() == [] and plt.rcParams["font.size"] == before


def test_a_notebook_that_raises_is_an_error():
    with pytest.raises(ZeroDivisionError):
        TOOL["run"](notebook("1 / 0"))


def test_a_page_has_the_words_the_code_and_the_outputs():
    held = TOOL["run"](notebook("1 + 1"))
    held["cells"].insert(0, {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# Title"]})
    page = TOOL["page"](held, "name")
    assert page.startswith("# Title\n\n*This page is a notebook: {download}`name.ipynb <name.ipynb>`.*")
    assert "```python\n1 + 1\n```\n\n```text\n2\n```" in page


def test_long_lines_of_an_output_fit_on_the_page_and_columns_stay():
    held = TOOL["run"](notebook("print('name      1  2')\nprint('word ' * 40)"))
    page = TOOL["page"](held, "name")
    assert "```text\nname      1  2\nword word" in page
    assert page.count("word") == 41  # those of the code included
    assert all(len(line) <= 86 for line in page.splitlines())
