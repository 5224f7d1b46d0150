"""How noise is drawn: random streams, exact coins, and the compiled loops that make noisy copies.

Other rooms use `samplers`, and the fused engine the loops themselves. The parameters of compiled loops are `Any`: numba
finds their types when a loop is first called, and compiles a version for each.
"""
