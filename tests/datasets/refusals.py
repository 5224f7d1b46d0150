"""How a file is refused: in one line that names it."""

import flipproof as fp


def refusal(path):
    """The line, or None if the file is read."""
    try:
        fp.datasets.load(path)
    except fp.FileFormatError as error:
        line = str(error)
    else:
        return None
    if str(path) not in line or "\n" in line:
        raise AssertionError(f"{line!r} is no line about {path}")
    return line
