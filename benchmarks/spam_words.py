"""Claim: a bag-of-words spam filter stays accurate under deletion noise and is certified against changed words.

Runs examples/spam_words.py, 500 test messages. Always answering "ham" would certify most messages and no spam, so
both are reported. Needs the data or a network.
"""

import os
import runpy
import tempfile
import time
from pathlib import Path

from claims import Claim, report

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "spam_words.py"


def main():
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        found = runpy.run_path(str(EXAMPLE))
        os.chdir(EXAMPLE.parent)
    seconds = time.perf_counter() - start
    right, robust, spam = found["right"], found["robust"], found["spam"]
    called_spam = ~found["certificates"].abstained & (found["certificates"].label == 1)
    f1 = 2 * (right & spam).sum() / (spam.sum() + called_spam.sum())
    report(
        "spam_words",
        [
            Claim("smoothed accuracy", right.mean(), "", at_least=0.97),
            Claim("F1 of spam", f1, "", at_least=0.90),
            Claim("certified accuracy, one word added and one removed", robust.mean(), "", at_least=0.935),
            Claim("the same on spam alone", robust[spam].mean(), "", at_least=0.66),
            Claim("always answering ham: certified accuracy", (~spam).mean(), ""),
            Claim("the whole example", seconds, "s", at_most=60.0),
        ],
    )


if __name__ == "__main__":
    main()
