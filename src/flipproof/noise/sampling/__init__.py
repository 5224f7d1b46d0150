"""How noise is drawn: random streams, exact coins, and the compiled loops that make noisy copies.

Other rooms use `samplers`, and the fused engine the loops themselves.
"""
