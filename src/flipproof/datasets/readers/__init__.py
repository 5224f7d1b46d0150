"""From files to arrays: one module for each format. Data files are untrusted: nothing in them is run or believed."""
