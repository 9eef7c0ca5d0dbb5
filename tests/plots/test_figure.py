"""Where pictures are drawn: new figures in our style, axes of a user in theirs, SVG that is the same on every run."""

import re
import sys
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

import bipartite as bp
from bipartite.errors import InputError, MissingExtraError
from bipartite.plots.figure import STYLE, as_file, as_svg, axes, describe, literal, panels
from bipartite.plots.looks import BLUE, INK
from tests.plots.artists import words

STARS = bp.GRR(bp.Integers(1, 5), 1)
EST = bp.estimate(STARS, STARS.privatize([1, 2, 2, 5] * 100, rng=bp.insecure_seed(1)))


def simple(words="A line.", **how):
    with axes(None) as ax:
        ax.plot([1, 2], [3, 4])
        return describe(ax, words, **how)


def test_the_same_picture_is_the_same_text_and_loads_nothing():
    once, again = (as_svg(EST.plot) for _ in range(2))
    assert once == again and once.startswith('<svg role="img" aria-label="') and once.endswith("</svg>")
    drawn = ET.fromstring(once)
    assert drawn.get("aria-label") == EST.plot().get_label()
    ids = [each.get("id") for each in drawn.iter() if each.get("id")]
    assert len(ids) == len(set(ids)) and all(f"#{each}" in once for each in ids)
    # Nothing to load, no date, no program.
    assert not any(sign in once for sign in ("<image", "<!DOCTYPE", "<metadata", "dc:date", "Matplotlib", "@import"))
    assert {each.split("#")[0] for each in once.split('xlink:href="')[1:]} <= {""}


def test_words_are_escaped_in_svg_and_dollar_signs_begin_no_formula():
    evil = 'a$b$c <b> & "q" 100 $ _x_ ^ \n \x1b'
    svg = as_svg(lambda: simple(evil, title=evil, notes=[evil]))
    drawn = ET.fromstring(svg)
    told = 'a$b$c <b> & "q" 100 $ _x_ ^ \\n \\u001b'
    assert drawn.get("aria-label") == f"{told}. {told}"
    texts = ["".join(each.itertext()) for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert [each for each in texts if "a$b$c" in each] == [told, told]
    assert literal("$") == r"\$"


def test_names_in_any_script_are_drawn_without_a_warning():
    svg = as_svg(lambda: simple(title="😀 שלום 漢字"))
    assert "😀 שלום 漢字" in svg
    assert as_file(lambda: simple(title="😀"), "x.png").startswith(b"\x89PNG")


def test_a_figure_for_a_page_is_unknown_to_pyplot_and_one_of_a_user_is_known():
    before = plt.get_fignums()
    as_svg(EST.plot)
    as_file(EST.plot, "x.pdf")
    assert plt.get_fignums() == before
    EST.plot()
    assert len(plt.get_fignums()) == len(before) + 1


@pytest.mark.parametrize(("name", "begins"), [("x.svg", b"<svg "), ("x.PNG", b"\x89PNG"), ("x.pdf", b"%PDF")])
def test_files_are_what_their_endings_say_and_the_same_on_every_run(name, begins):
    assert as_file(EST.plot, name).startswith(begins) and as_file(EST.plot, name) == as_file(EST.plot, name)


def test_another_ending_is_refused():
    with pytest.raises(InputError, match=r"Expected a file name ending in \.svg, \.png, \.pdf, got 'x\.gif'"):
        as_file(EST.plot, "x.gif")


def test_a_user_saves_the_figure(tmp_path):
    EST.plot().figure.savefig(tmp_path / "stars.svg")
    assert "estimated share" in (tmp_path / "stars.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("file", ["ages.svg", "path"])
def test_a_file_name_is_no_axes(file, tmp_path):
    given = tmp_path / file if file == "path" else file
    for draw in (EST.plot, bp.compare(bp.Integers(1, 5), 1).plot):
        how = {"ax": given}
        with pytest.raises(InputError, match=r'write a file with est\.plot\(\)\.figure\.savefig\("ages\.svg"\)'):
            draw(**how)


def test_what_is_no_axes_is_refused_and_so_are_axes_of_the_wrong_kind():
    with pytest.raises(InputError, match=r"Expected ax as matplotlib axes, got Figure; pass plt\.subplots\(\)\[1\]"):
        EST.plot(plt.figure())
    hours = bp.GRR(bp.Cyclic(24), 3)
    clock = bp.estimate(hours, hours.privatize([3, 4] * 50, rng=bp.insecure_seed(1)))
    with pytest.raises(InputError, match=r"polar axes for values on a circle, got rectilinear; pass ax=plt"):
        clock.plot(plt.subplots()[1])
    with pytest.raises(InputError, match=r"axes that are not polar, got polar; pass ax=plt\.subplot\(\)"):
        EST.plot(plt.subplot(projection="polar"))
    assert clock.plot(plt.subplot(projection="polar")).name == "polar"


def test_two_estimates_stand_beside_each_other_in_the_style_of_their_user():
    with mpl.style.context("dark_background"):
        figure, both = plt.subplots(1, 2, figsize=(8, 3), sharey=True)
        size = figure.get_size_inches().tolist()
        assert [EST.plot(ax, title=title) for ax, title in zip(both, "ab", strict=True)] == list(both)
        assert figure.get_size_inches().tolist() == size  # nothing is written around them
        assert [ax.get_title(loc="center") for ax in both] == ["a", "b"]
        assert both[0].get_facecolor()[:3] == (0, 0, 0)
        ink = {mpl.colors.to_hex(each.get_markeredgecolor()) for each in both[0].lines}
        assert ink == {"#ffffff"}  # whiskers and marks as the letters of that style
        assert not any("reports;" in each for each in words(both[0]))
    assert both[0].get_label().startswith("a. The estimated shares of 5 values")


def test_notes_stand_below_a_figure_of_ours_only_and_panels_share_one():
    assert any("400 reports; intervals for the population" in each for each in words(EST.plot()))
    figure = panels(1, 2, (8, 3), sharey=True)
    for ax in figure.axes:
        EST.plot(ax)
    assert not any("400 reports" in each for each in words(figure.axes[0]))
    assert figure.get_size_inches().tolist() == [8, 3]
    assert as_svg(lambda: figure).count("The estimated shares of 5 values") == 2  # the words of both


def test_the_style_is_ours_only_while_we_draw():
    before = mpl.rcParams["axes.titlelocation"], mpl.rcParams["text.color"]
    ax = EST.plot(title="Stars")
    assert (mpl.rcParams["axes.titlelocation"], mpl.rcParams["text.color"]) == before
    assert ax.get_title(loc="left") == "Stars"
    with mpl.style.context("ggplot"):
        assert mpl.colors.to_hex(EST.plot().get_facecolor()) == "#ffffff"  # nothing of another style remains
        assert mpl.colors.to_hex(mpl.rcParams["axes.facecolor"]) == "#e5e5e5"
    with mpl.style.context(STYLE):
        assert mpl.colors.to_hex(mpl.rcParams["text.color"]) == INK
        assert mpl.colors.to_hex(mpl.rcParams["axes.prop_cycle"].by_key()["color"][0]).upper() == BLUE


def test_without_matplotlib_a_picture_names_the_extra_and_a_notebook_shows_the_text(monkeypatch):
    shown = EST._repr_html_()
    assert shown.count("<svg ") == 1 and EST._repr_svg_().startswith("<svg ")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"A picture needs matplotlib.*bipartite\[plots\]"):
        EST.plot()
    assert EST._repr_svg_() is None
    assert "<svg" not in EST._repr_html_() and "mean" in EST._repr_html_()


def test_the_package_imports_no_matplotlib():
    import subprocess

    code = "import sys, bipartite as bp; bp.estimate; print('matplotlib' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_numbers_of_svg_are_rounded_and_texts_stay_as_they_are():
    svg = as_svg(lambda: simple("Pi is 3.14159265.", title="3.14159265"))
    assert ">3.14159265<" in svg and "Pi is 3.14159265." in svg
    values = [each.split('"')[0] for each in svg.split(' x="')[1:]]
    assert values and all(len(each.partition(".")[2]) <= 2 for each in values)
    assert np.isfinite([float(each) for each in values]).all()


def test_panels_that_share_an_axis_have_room_for_both():
    _, (low, high) = plt.subplots(1, 2, sharey=True)
    steep = bp.estimate(STARS, STARS.privatize([5] * 4000, rng=bp.insecure_seed(1)))
    steep.plot(low)
    tall = low.get_ylim()[1]
    EST.plot(high)
    assert low.get_ylim() == high.get_ylim() and low.get_ylim()[1] == tall
    _, (first, second) = plt.subplots(1, 2, sharey=True)
    EST.plot(first)
    steep.plot(second)
    assert first.get_ylim()[1] == tall


@pytest.mark.parametrize("dpi", [72, 120, 200])
def test_no_note_is_cut_at_the_right(dpi):
    # Digits are wide letters.
    told = "the reports cannot tell some values apart, however many: 18 to 31, 77 to 90, 77 to 90"
    figure = simple(notes=[told]).figure
    figure.set_dpi(dpi)
    figure.draw_without_rendering()
    (note,) = (each for each in figure.findobj(mpl.text.Text) if each.get_text().startswith("the reports"))
    assert note.get_window_extent().x1 <= 0.99 * figure.bbox.width


@pytest.mark.parametrize("title", ["How many hours people sleep " * 3, "7 days in 2026: 10,000 to 19,999 people " * 2])
def test_a_long_title_has_lines_and_is_not_cut(title):
    ax = EST.plot(title=title)
    ax.figure.draw_without_rendering()
    (box,) = (each.get_window_extent() for each in ax.findobj(mpl.text.Text) if each.get_text() == ax.get_title("left"))
    assert box.x0 >= 0 and box.x1 <= ax.figure.bbox.width and box.y1 <= ax.figure.bbox.height
    assert ax.get_title(loc="left").count("\n") >= 1


def test_pictures_of_one_estimate_share_no_ids():
    plain, over = (as_svg(lambda how=how: EST.plot(**how)) for how in ({}, {"truth": [1, 2, 5]}))
    assert not set(re.findall(r' id="([^"]+)"', plain)) & set(re.findall(r' id="([^"]+)"', over))


def test_words_that_look_like_attributes_stay_as_they_are():
    words = 'id="x" x="1.23456" and id="y" d="9'
    svg = as_svg(lambda: simple(title=f"a {words}"))
    assert f">a {words}</text>" in svg
    assert not re.search(r' d="M [^"]*\.\d{3}', svg)


@pytest.mark.parametrize("name", ["3d", "mollweide"])
def test_axes_that_are_not_flat_are_refused(name):
    with pytest.raises(InputError, match=f"Expected ax as axes that are not polar, got {name}; pass ax=plt"):
        EST.plot(plt.subplot(projection=name))


def test_axes_that_were_removed_are_refused():
    ax = plt.subplot()
    ax.remove()
    with pytest.raises(InputError, match=r"axes of a figure, got axes that were removed; pass plt\.subplots\(\)\[1\]"):
        EST.plot(ax)


def test_a_part_of_a_figure_is_a_place_for_pictures():
    left, right = plt.figure(figsize=(8, 4), layout="constrained").subfigures(1, 2)
    assert EST.plot(left.subplots()).get_label().startswith("The estimated shares")
    bp.compare(bp.Integers(1, 5), [1, 2]).plot(ax=right.subplots())


def test_what_was_drawn_before_is_not_cut():
    ax = plt.subplot()
    ax.plot([1, 9], [0, 0.99])
    assert EST.plot(ax).get_ylim()[1] >= 0.99 and ax.get_xlim()[1] >= 9


def test_many_threads_draw_the_same_and_leave_the_style_alone():
    before, once = dict(mpl.rcParams), as_svg(EST.plot)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: as_svg(EST.plot), range(24))) == {once}
    assert dict(mpl.rcParams) == before
