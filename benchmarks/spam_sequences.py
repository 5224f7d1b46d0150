"""Claim: sequences of words can be certified against replaced words, by hiding words better than by replacing them.

`flipproof run --dataset sms_spam --noise masking` and `--noise substitution` with all their defaults, on several splits
of 500 test messages. Always answering "ham" would certify most messages and no spam, so both are reported. Usage:
python benchmarks/spam_sequences.py [SPLITS]. Needs the data or a network.
"""

import sys
import tempfile
from pathlib import Path
from statistics import mean

import flipproof as fp
from claims import Claim, report
from flipproof.pipeline.kinds.kind import kind_named
from flipproof.pipeline.steps import Machine, Samples, run
from flipproof.run_folder.task import ModelSpec, Task

REPLACED = (1, 2, 3)


def measured(noisy, seed, folder):
    """Shares of all messages and of spam alone that are right, and right whatever words are replaced; F1; ham."""
    suits = kind_named("text").defaults(noisy)
    task = Task(
        "text", "sms_spam", ModelSpec("embedding"), noisy, suits.noise, suits.training, suits.split,
        inputs=suits.inputs, seed=seed,
    )  # fmt: skip
    path = Path(folder) / f"{noisy}{seed}"
    samples = Samples(n_estimate=kind_named("text").n_estimate)
    finished = run(path, task, samples, machine=Machine(progress=False))
    certificates, labels = finished.certificates, finished.inputs.labels
    spam, called = labels == 1, (certificates.label == 1) & ~certificates.abstained
    right = (certificates.label == labels) & ~certificates.abstained
    found = {"right": right}
    for count in REPLACED:
        radii = fp.Radii(add=count, delete=count) if noisy == "masking" else fp.Radii(change=count)
        found[f"{count} replaced"] = right & certificates.certified(radii)
    shares = {what: (each.mean(), each[spam].mean()) for what, each in found.items()}
    return shares, 2 * (right & spam).sum() / (spam.sum() + called.sum()), (~spam).mean()


def main():
    splits = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    claims, ham = [], []
    with tempfile.TemporaryDirectory() as folder:
        for noisy in ("masking", "substitution"):
            results = [measured(noisy, seed, folder) for seed in range(splits)]
            for what in results[0][0]:
                for whom, number in (("all", 0), ("spam", 1)):
                    claims.append(
                        Claim(f"{noisy}, {what}, {whom}", mean(each[0][what][number] for each in results), "")
                    )
            claims.append(Claim(f"{noisy}, F1 of spam", mean(each[1] for each in results), ""))
            ham += [each[2] for each in results]
    claims.append(Claim('always answering "ham": right and certified', mean(ham), ""))
    report("spam_sequences", claims)


if __name__ == "__main__":
    main()
