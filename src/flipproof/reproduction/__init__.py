"""The paper (Bojchevski, Gasteiger and Günnemann, ICML 2020): its experiments, measured beside its numbers.

`studies` says what to run and turns runs into rows, `pages` turns rows into figures and a page. It may import
everything but the command line.
"""

PUBLIC = (
    "pages.figures", "pages.page", "pages.rows", "pages.tables", "reproduce", "scale", "studies.registry", "study",
    "study_result",
)  # fmt: skip
"""The modules that other rooms may import."""
