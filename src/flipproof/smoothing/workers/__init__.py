"""Where chunks are evaluated, if not in this process: worker processes, or a Ray cluster."""
