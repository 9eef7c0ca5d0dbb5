"""Pictures read back as XML."""

import re
from xml.etree import ElementTree as ET

import numpy as np

SVG = "{http://www.w3.org/2000/svg}"


def words(picture):
    """Everything that is written in a picture, or in the text of one."""
    drawn = ET.fromstring(picture) if isinstance(picture, str) else picture
    return [each.text for each in drawn.iter(f"{SVG}text")]


def corners(element):
    """The corners of a path, a row for each."""
    places = re.split("[ML]", element.get("d").rstrip("Z"))[1:]
    return np.array([[float(number) for number in place.split()] for place in places])
