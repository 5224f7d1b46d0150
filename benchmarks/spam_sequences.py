"""Numbers: a spam filter that reads messages word by word, certified against replaced words.

Runs examples/spam_sequences.py with both kinds of noise, 500 test messages. Always answering "ham" would certify most
messages and no spam, so both are reported. Needs the data or a network.
"""

import os
import runpy
import sys
import tempfile
import time
from pathlib import Path

from claims import Claim, report

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "spam_sequences.py"


def claims(noise):
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.argv = [EXAMPLE.name, "10000", noise]
        found = runpy.run_path(str(EXAMPLE))
        os.chdir(EXAMPLE.parent)
    seconds = time.perf_counter() - start
    right, replaced, spam = found["right"], found["replaced"], found["labels"] == 1
    called_spam = ~found["certificates"].abstained & (found["certificates"].label == 1)
    f1 = 2 * (right & spam).sum() / (spam.sum() + called_spam.sum())
    yield Claim(f"{noise}: smoothed accuracy", right.mean(), "")
    yield Claim(f"{noise}: F1 of spam", f1, "")
    for words in (1, 2, 3):
        robust = right & (replaced >= words)
        yield Claim(f"{noise}: certified accuracy, {words} replaced", robust.mean(), "")
        yield Claim(f"{noise}: the same on spam alone", robust[spam].mean(), "")
    yield Claim(f"{noise}: always answering ham, certified accuracy", (~spam).mean(), "")
    yield Claim(f"{noise}: the whole example", seconds, "s")


def main():
    report("spam_sequences", [claim for noise in ("masking", "substitution") for claim in claims(noise)])


if __name__ == "__main__":
    main()
