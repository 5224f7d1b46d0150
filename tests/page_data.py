"""What a page carries, read back from its HTML as a browser would."""

import base64
import gzip
import json
import re

import numpy as np

PICTURES_OF_A_PAGE = 4_600_000
"""Bytes that a page of 20 MB has left for pictures beside 100,000 inputs, their names and texts, and plotly."""


def data_of(html):
    """The JSON inside a page."""
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', html, flags=re.DOTALL)
    return json.loads(text)


def unpacked(array):
    """A packed array as numpy has it."""
    content = gzip.decompress(base64.b64decode(array["gz"]))
    return np.frombuffer(content, dtype=f"<{array['dtype']}").reshape(array["shape"])
