"""The paper (Bojchevski, Gasteiger and Günnemann, ICML 2020): its experiments, measured beside its numbers.

`studies` says what to run and turns runs into rows, `pages` turns rows into figures and a page.
"""
