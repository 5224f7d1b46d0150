"""Models behind the classifier protocol: adapters for users' models, built-in networks, and their training.

`adapters` wrap users' models, `networks` holds the paper's models, `fused` evaluates them without noisy copies,
`fitted` stores scikit-learn estimators as arrays, and `training` trains with noise. This package imports `run_folder`
and everything below it.
"""

PUBLIC = (
    "adapters.given_rows", "adapters.graph_classifier", "adapters.node_classifier", "adapters.sklearn_classifier",
    "adapters.tensors", "adapters.torch_classifier", "adapters.torch_modules", "fitted.estimators", "fused.nodes",
    "networks.graph_modules", "networks.image_modules", "networks.node_modules", "networks.text_modules",
    "training.fitting", "training.smooth_adversarial", "training.train", "weights",
)  # fmt: skip
"""The modules that other packages may import."""
