"""Claim: voting with a GCN is many times faster than the published way, on real graphs, one thread.

Both ways are timed in turns in one process, by processor time, and their fastest turns are compared. Labels of the two
engines are compared on the same noisy graphs. Needs cora_ml and pubmed (FLIPPROOF_DATA).
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import torch

import flipproof as fp
import reference_way
from claims import Claim, report
from flipproof.noise.sampling.samplers import Role

TURNS = 7
ATTRIBUTES, STRUCTURE, DELETION = fp.FlipNoise(0.01, 0.6), fp.FlipNoise(0.001, 0.4), fp.FlipNoise(0.0, 0.4)
ONE_GRAPH = np.zeros(1, dtype=np.int64)


@dataclass(frozen=True)
class Setting:
    """A dataset with a GCN of 64 hidden units; untrained, as the labels do not matter for speed."""

    data: fp.datasets.NodeDataset
    gcn: fp.GCN

    @classmethod
    def of(cls, name):
        data = fp.datasets.load(name, download=False).standardised()
        torch.manual_seed(0)
        return cls(data, fp.GCN(data.features, data.classes).eval())

    def reference(self, noisy, noise):
        """The published way, as a function of the number of samples; the faster of one copy and ten at once."""
        clean, plain = self.data.graph(noisy).clean(), reference_way.with_weights_of(self.gcn)
        matrix, edges = clean.attributes.tocoo(), torch.tensor(np.array(clean.edge_index))
        cells = torch.tensor(np.stack([matrix.row, matrix.col]).astype(np.int64))
        if noisy == "attributes":
            return lambda n, copies=1: reference_way.attribute_votes(
                plain, cells, matrix.shape, edges, noise, n, copies
            )
        ones = torch.ones(cells.shape[1])
        x = torch.sparse_coo_tensor(cells, ones, matrix.shape, check_invariants=False).coalesce()
        return lambda n, copies=1: reference_way.structure_votes(plain, x, edges, noise, n, copies)

    def engines(self, noisy, noise):
        """The fused and the general engine, each from sample numbers to labels."""
        classifier = fp.NodeClassifier(self.gcn, classes=self.data.classes)
        sampler = self.data.graph(noisy).sampler(noise, seed=0)
        fused = classifier.fused(sampler)

        def general(samples):
            return np.concatenate(
                [
                    classifier(sampler.draw(Role.ESTIMATE, samples[i : i + 8], ONE_GRAPH))
                    for i in range(0, len(samples), 8)
                ]
            )

        return lambda samples: fused(Role.ESTIMATE, samples), general


def processor_seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start


def compared(setting, noisy, noise, few, many):
    """Samples per second of the published way, the fused and the general engine; and labels that differ."""
    reference, (fused, general) = setting.reference(noisy, noise), setting.engines(noisy, noise)
    ways = [
        (few, lambda: reference(few)),
        (few, lambda: reference(few, copies=few)),
        (many, lambda: fused(range(many))),
        (many // 4, lambda: general(range(many // 4))),
    ]
    for _, work in ways:
        work()
    seconds = np.array([[processor_seconds(work) / n for n, work in ways] for _ in range(TURNS)])
    one, several, ours, torch_path = seconds.min(axis=0)
    differ = float((fused(range(many // 4)) != general(range(many // 4))).mean())
    return 1 / min(one, several), 1 / ours, 1 / torch_path, differ


def main():
    torch.set_num_threads(1)
    cora, pubmed = Setting.of("cora_ml"), Setting.of("pubmed")
    claims = []
    for name, setting, noisy, noise, few, many, ratio, per_second in (
        ("Cora-ML attributes (0.01, 0.6)", cora, "attributes", ATTRIBUTES, 10, 64, 25, 400),
        ("Cora-ML structure (0.001, 0.4)", cora, "structure", STRUCTURE, 10, 128, 30, None),
        ("Cora-ML structure (0, 0.4)", cora, "structure", DELETION, 10, 128, 40, None),
        ("PubMed attributes (0.01, 0.6)", pubmed, "attributes", ATTRIBUTES, 4, 32, 20, 90),
    ):
        published, fused, general, differ = compared(setting, noisy, noise, few, many)
        claims += [
            Claim(f"{name}: the published way", published, "samples/s"),
            Claim(f"{name}: fused", fused, "samples/s", at_least=per_second),
            Claim(f"{name}: fused against the published way", fused / published, "x", at_least=ratio),
            Claim(f"{name}: torch engine", general, "samples/s"),
            Claim(
                f"{name}: torch engine against the published way",
                general / published,
                "x",
                at_least=12 if noisy == "attributes" and setting is cora else None,
            ),
            Claim(f"{name}: labels on which the engines differ", differ, "", at_most=1e-4),
        ]
    report("monte_carlo", claims)


if __name__ == "__main__":
    main()
