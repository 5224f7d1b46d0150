"""From certificates to what people look at: words, figures, the HTML page. Needs no model and no dataset.

`words` has all sentences, `figures` matplotlib, `pictures` what inputs look like, `page` the page with its scripts. It
imports `run_folder` and all below.
"""

PUBLIC = (
    "by_class", "described_inputs", "figures.compared", "figures.drawing", "figures.figures", "findings", "page.page",
    "section", "shares", "summary", "words.promises", "words.verdict", "writing",
)  # fmt: skip
"""The modules that other rooms may import."""
