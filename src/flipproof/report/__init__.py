"""From certificates to what people look at: summaries, figures, the HTML page. Needs no model and no dataset."""
