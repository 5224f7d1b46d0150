"""Tasks on Cora-ML with the hyperparameters of the paper (appendix, "Hyperparameters")."""

from __future__ import annotations

from flipproof.noise.laws import Law
from flipproof.reproduction.scale import Scale
from flipproof.run_folder.task import Average, ModelSpec, PerClass, Task, TrainingSettings

ATTRIBUTES, STRUCTURE = "attributes", "structure"


def node_task(
    scale: Scale,
    noise: Law,
    noisy: str = ATTRIBUTES,
    model: str = "gcn",
    seed: int = 0,
    noisy_samples: int = 1,
    dataset: str = "cora_ml",
) -> Task:
    """A node task with 20 training and 20 validation nodes per class, Adam with 1e-3 and 1e-3, patience of 50 epochs.

    With several noisy copies, their probabilities are averaged, as in the appendix ("Training").
    """
    average = Average.SOFTMAX if noisy_samples > 1 else Average.LOG_SOFTMAX
    training = TrainingSettings(noisy_samples=noisy_samples, average=average, epochs=scale.epochs)
    return Task("nodes", dataset, ModelSpec(model), noisy, noise, training, PerClass(), seed=seed)
