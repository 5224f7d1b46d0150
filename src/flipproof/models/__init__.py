"""Models behind the classifier protocol: adapters for others' models, networks of our own, and how they are trained.

`adapters` wrap what users bring, `networks` are the paper's models, `fused` evaluates them without noisy copies,
`fitted` keeps scikit-learn estimators as arrays, `training` trains with noise. It imports `run_folder` and all below.
"""
