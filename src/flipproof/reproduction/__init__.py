"""Repeats the paper's experiments (Bojchevski, Gasteiger and Günnemann, ICML 2020) and compares the numbers.

`studies` defines the runs and turns them into rows; `pages` turns rows into figures and a page. This subpackage may
import everything but the command line.
"""

PUBLIC = (
    "pages.figures", "pages.page", "pages.rows", "reproduce", "scale", "study",
)  # fmt: skip
"""The modules that other subpackages may import."""
