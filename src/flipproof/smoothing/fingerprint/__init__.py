"""What a model, its code and its data are, as short texts, so that votes of two different ones are never mixed."""
