"""Pictures read back as matplotlib's artists."""

import numpy as np
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.text import Text


def words(ax):
    """Everything that is written on the figure, once it is laid out; lines of a note follow each other."""
    figure = ax.figure
    figure.draw_without_rendering()
    shown = [each for each in figure.findobj(Text) if each.get_visible() and each.get_text()]
    return [each.get_text().replace(r"\$", "$").replace("\n", " ") for each in shown]


def bars(ax, label=None):
    """The bars with this label, or all of them."""
    found = [each for each in ax.containers if isinstance(each, BarContainer)]
    return [bar for each in found if label in {None, each.get_label()} for bar in each]


def whiskers(ax):
    """((x, low), (x, high)) of every interval, or ((low, y), (high, y)) if they lie."""
    found = [each for each in ax.containers if isinstance(each, ErrorbarContainer)]
    return [segment for each in found for lines in each.lines[2] for segment in lines.get_segments()]


def legend(ax):
    """The entries of the legend."""
    return [each.get_text() for each in ax.get_legend().get_texts()]


def line(ax, label):
    """The one line, or outline, with this label."""
    (found,) = [each for each in [*ax.lines, *ax.patches] if each.get_label() == label]
    return found


def heights(ax, label, at):
    """The heights of a step curve at these places."""
    values, edges, _ = line(ax, label).get_data()
    assert edges[0] <= min(at) and max(at) <= edges[-1]
    return values[np.searchsorted(edges, at) - 1].tolist()
