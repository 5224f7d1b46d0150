"""How noise is drawn: random streams, exact coins, and the compiled loops that make noisy copies.

Other packages use `samplers`; the fused engine also calls the loops directly. The parameters of compiled loops are
`Any`: numba infers their types at the first call and compiles a version for each combination of types.
"""
