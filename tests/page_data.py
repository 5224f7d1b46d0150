"""What a page carries, read back from its HTML as a browser would."""

import base64
import gzip
import json
import re

import numpy as np


def data_of(html):
    """The JSON inside a page."""
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', html, flags=re.DOTALL)
    return json.loads(text)


def unpacked(array):
    """A packed array as numpy has it."""
    content = gzip.decompress(base64.b64decode(array["gz"]))
    return np.frombuffer(content, dtype=f"<{array['dtype']}").reshape(array["shape"])
