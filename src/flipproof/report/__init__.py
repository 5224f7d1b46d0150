"""From certificates to what people look at: words, figures, the HTML page. Needs no model and no dataset.

`words` has all sentences, `figures` matplotlib, `pictures` what inputs look like, `page` the page with its scripts.
"""
