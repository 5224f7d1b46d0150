"""Claim: the report of 100,000 inputs stays below 20 MB and opens in seconds.

Needs Debian's package chromium.
"""

import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

import flipproof as fp
from claims import Claim, report

INPUTS, CLASSES, SAMPLES = 100_000, 10, 100_000


def certificates():
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([2.0] + [0.1] * (CLASSES - 1), INPUTS)
    votes = fp.Votes(
        selection=rng.multinomial(1_000, shares),
        estimation=rng.multinomial(SAMPLES, shares),
        noise=fp.FlipNoise(0.01, 0.6),
        n_select=1_000,
        n_estimate=SAMPLES,
    )
    return fp.certify(votes), rng


def seconds_to_open(path):
    """From the start of loading until everything is drawn, in a browser that is running already."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-background-networking"]
        )
        page = browser.new_page()
        start = time.perf_counter()
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        seconds = time.perf_counter() - start
        browser.close()
    return seconds


def main():
    made, rng = certificates()
    images = (rng.random((INPUTS, 28, 28)) < 0.2).astype(np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        start = time.perf_counter()
        fp.write_report(path, made, labels=rng.integers(0, CLASSES, INPUTS), inputs=images, image_shape=(28, 28))
        written = time.perf_counter() - start
        size = path.stat().st_size / 1e6
        opened = seconds_to_open(path)
    report(
        "report",
        [
            Claim("page of 100,000 images: size", size, "MB", at_most=20.0),
            Claim("page of 100,000 images: written", written, "s"),
            Claim("page of 100,000 images: opened", opened, "s", at_most=10.0),
        ],
    )


if __name__ == "__main__":
    main()
