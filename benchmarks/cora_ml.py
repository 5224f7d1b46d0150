"""Claim: on Cora-ML a smoothed GCN is as accurate as a plain one and certified far beyond a few changes.

Means over five splits, 100,000 samples, alpha = 0.01. Takes most of an hour on two cores; what is done is kept in
FOLDER, so that an interrupted call can be repeated. Usage: python benchmarks/cora_ml.py [FOLDER [SPLITS]]. Needs the
data or a network.
"""

import sys
from pathlib import Path
from statistics import mean, stdev

import flipproof as fp
from claims import Claim, report
from flipproof.pipeline.steps import Machine, run, train_run
from flipproof.report.summary import summary_of
from flipproof.run_folder.task import ModelSpec, Task, TrainingSettings

GCN = ModelSpec("gcn")
SETTINGS = {
    "attributes (0.01, 0.6)": ("attributes", fp.FlipNoise(0.01, 0.6), 0.81, {"delete": 9.0, "add": 2.95}),
    "structure (0.001, 0.4)": ("structure", fp.FlipNoise(0.001, 0.4), 0.80, {"delete": 2.05, "add": 0.14}),
    "structure (0, 0.4)": ("structure", fp.FlipNoise(0.0, 0.4), 0.80, {"delete": 6.5}),
}


def plain_accuracy(folder, seed):
    """Of a GCN that never sees noise, on the same split."""
    without = TrainingSettings(noisy_samples=0)
    task = Task("nodes", "cora_ml", GCN, "attributes", fp.FlipNoise(0.01, 0.6), without, seed=seed)
    trained = train_run(folder / f"plain-{seed}", task).section("training")
    return trained["base_accuracy"]


def claims_of(name, summaries, plain):
    """The bars of one setting, and the spread over the splits."""
    _, _, accuracy, radii = SETTINGS[name]
    reached = [summary.smoothed_accuracy for summary in summaries]
    yield Claim(f"{name}: smoothed accuracy (deviation {stdev(reached):.3f})", mean(reached), "", at_least=accuracy)
    if name.startswith("attributes"):
        yield Claim(f"{name}: smoothed minus plain", mean(reached) - plain, "", at_least=-0.005)
    for axis, bar in radii.items():
        found, test = ([getattr(s.axes[axis], each) for s in summaries] for each in ("mean", "mean_test"))
        words = f"{name}: mean radius, {axis} (deviation {stdev(found):.3f}; test nodes {mean(test):.3f})"
        yield Claim(words, mean(found), "", at_least=bar)
    speed = mean(summary.samples_per_second for summary in summaries)
    yield Claim(f"{name}: votes of two workers, their start included", speed, "samples/s")


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/cora_ml")
    seeds = range(int(sys.argv[2]) if len(sys.argv) > 2 else 5)
    plain = [plain_accuracy(folder, seed) for seed in seeds]
    claims = [Claim(f"plain GCN: accuracy (deviation {stdev(plain):.3f})", mean(plain), "")]
    for name, (noisy, noise, *_) in SETTINGS.items():
        summaries = []
        for seed in seeds:
            path = folder / f"{noisy}-{noise.p_plus:g}-{seed}"
            task = Task("nodes", "cora_ml", GCN, noisy, noise, seed=seed)
            summaries.append(summary_of(run(path, task, machine=Machine(workers=2))))
            print(name, seed, f"{summaries[-1].smoothed_accuracy:.4f}", flush=True)
        claims += claims_of(name, summaries, mean(plain))
    report("cora_ml", claims)


if __name__ == "__main__":
    main()
