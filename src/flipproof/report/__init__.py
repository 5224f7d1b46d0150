"""From certificates to what people look at: words, figures, the HTML page. It needs neither a model nor a dataset.

`words` has all sentences, `figures` what matplotlib draws, `pictures` what inputs look like, `page` the page with its
scripts. Other rooms use `writing` (the verbs for users), `section`, `report_files`, `summary`, `shares`, `figures` and
`words.numbers`.
"""
