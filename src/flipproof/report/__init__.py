"""From certificates to what people look at: words, figures, the HTML page. It needs neither a model nor a dataset.

`words` has all sentences, `figures` what matplotlib draws, `pictures` what inputs look like, `page` the page with its
scripts. It imports `run_folder` and all below. `robustness` is the one call:
it has `vote` ask the model, and shows what was found.
"""

PUBLIC = (
    "described_inputs", "figures.compared", "figures.figures", "report_files", "robustness", "section",
    "shares", "summary", "writing",
)  # fmt: skip
"""The modules that other rooms may import."""
