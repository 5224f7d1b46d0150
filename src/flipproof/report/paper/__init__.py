"""The experiments of the paper on paper: rows in files, figures and a page, from the rows alone."""
