"""Models behind the classifier protocol: adapters for others' models, networks of our own, and how they are trained.

`adapters` wrap what users bring, `networks` are the paper's models, `fused` evaluates them without noisy copies,
`fitted` keeps scikit-learn estimators as arrays, `training` trains with noise. It imports `run_folder` and all below.
"""

PUBLIC = (
    "adapters.graph_classifier", "adapters.node_classifier", "adapters.sklearn_classifier", "adapters.tensors",
    "adapters.torch_classifier", "adapters.torch_modules", "fitted.estimators", "fused.nodes",
    "networks.graph_modules", "networks.image_modules", "networks.node_modules", "networks.text_modules",
    "training.estimators", "training.fitting", "training.smooth_adversarial", "training.train", "weights",
)  # fmt: skip
"""The modules that other rooms may import."""
