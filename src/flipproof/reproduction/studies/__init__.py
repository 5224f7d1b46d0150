"""The experiments of the paper, one function each: a scale goes in, rows come out."""
