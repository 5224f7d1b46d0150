"""The experiments on paper: rows in files, figures and a page, from the rows alone."""
