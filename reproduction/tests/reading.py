"""What a picture of the laboratory holds, read from its artists or, where only that is kept, from its SVG."""

import xml.etree.ElementTree as ET

import pytest
from matplotlib.text import Text


def words(svg):
    """All words of a picture, wrapped lines joined."""
    texts = ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return " ".join(" ".join(" ".join(each.itertext()).split()) for each in texts)


def texts(figure):
    """The words of a figure that are drawn: an axis holds numbers beyond its ends too."""
    found, draw = {}, Text.draw
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Text, "draw", lambda text, renderer: (found.setdefault(text), draw(text, renderer)))
        figure.canvas.draw()
    return [each for each in found if each.get_visible() and each.get_text().strip()]


def artist(ax, label):
    """The line of this label."""
    (found,) = [line for line in ax.lines if line.get_label() == label]
    return found


def check_words(figure):
    """No words leave a figure or cover others, as Agg draws them."""
    width, height = figure.canvas.get_width_height()
    found = [(each.get_text(), each.get_window_extent()) for each in texts(figure)]
    assert found
    for at, (text, box) in enumerate(found):
        assert box.x0 >= -1 and box.x1 <= width + 1 and box.y0 >= -1 and box.y1 <= height + 1, (text, box)
        for other, its in found[:at]:
            wide, tall = min(box.x1, its.x1) - max(box.x0, its.x0), min(box.y1, its.y1) - max(box.y0, its.y0)
            assert wide <= 1 or tall <= 1, (text, other)
