"""The experiments of the paper (Bojchevski, Gasteiger and Günnemann, ICML 2020): what to run, and rows out of it."""
