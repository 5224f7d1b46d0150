"""Values that no argument, or hardly one, is meant to have. Each is made anew for every call: generators run dry."""

import datetime
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import flipproof as fp


class Hostile:
    """Has all the names that we look for to find out what something is, and nothing behind them."""

    shape = None
    dtype = "none"

    def __len__(self):
        return -1  # noqa: PLE0303 (on purpose)


NOISE = fp.FlipNoise(0.1, 0.3)
ODD = {
    "None": lambda: None,
    "True": lambda: True,
    "-1": lambda: -1,
    "0": lambda: 0,
    "1": lambda: 1,
    "1.5": lambda: 1.5,
    "-0.0": lambda: -0.0,
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "10**30": lambda: 10**30,
    "-10**30": lambda: -(10**30),
    "2**63": lambda: 2**63,
    "complex": lambda: 1j,
    "Fraction": lambda: Fraction(1, 3),
    "empty text": lambda: "",
    "text": lambda: "x",
    "text with a null": lambda: "a\0b",
    "path that is not there": lambda: "no/such/folder/x.json",
    "Path": lambda: Path("no/such/x.npz"),
    "bytes": lambda: b"x",
    "empty list": list,
    "nested list": lambda: [[1]],
    "ragged list": lambda: [[1, 2], [3]],
    "list of texts": lambda: ["a", "b"],
    "list of None": lambda: [None, None],
    "list of huge": lambda: [10**30, -1],
    "tuple": lambda: (1, 2, 3),
    "empty dict": dict,
    "dict": lambda: {"x": 1},
    "dict of numbers": lambda: {1: None},
    "set": lambda: {1, 2},
    "range": lambda: range(3),
    "long range": lambda: range(10**30),
    "generator": lambda: (i for i in range(3)),
    "object array": lambda: np.array([None, "x"], dtype=object),
    "text array": lambda: np.array(["a", "b"]),
    "empty array": lambda: np.zeros((0, 0)),
    "no numbers": lambda: np.zeros(0),
    "0-d array": lambda: np.array(1),
    "0-d object array": lambda: np.array(None, dtype=object),
    "nan array": lambda: np.full((2, 3), math.nan),
    "complex array": lambda: np.ones((2, 3), dtype=complex),
    "negative array": lambda: np.full((2, 3), -1),
    "uint64 array": lambda: np.full((2, 3), 2**64 - 1, dtype=np.uint64),
    "deep array": lambda: np.zeros((1,) * 20),
    "dates": lambda: np.array(["2020-01-01"], dtype="datetime64[D]"),
    "records": lambda: np.zeros(2, dtype=[("a", int), ("b", float)]),
    "datetime": lambda: datetime.datetime(2020, 1, 1),
    "sparse": lambda: sp.csr_array(np.array([[0, 1], [1, 0]])),
    "sparse of nan": lambda: sp.csr_array(np.array([[math.nan, 1.0]])),
    "a class": lambda: int,
    "our class": lambda: fp.Radii,
    "a function": lambda: lambda *_: None,
    "object": object,
    "hostile": Hostile,
    "FlipNoise": lambda: NOISE,
    "JointNoise": lambda: fp.JointNoise(a=NOISE, b=NOISE),
    "GaussianNoise": lambda: fp.GaussianNoise(0.5),
    "Radii": lambda: fp.Radii(1, 1),
    "Regions": lambda: fp.Regions([0.5, 0.5], [0.25, 0.75]),
    "Graph": lambda: fp.Graph.from_edge_index([[0, 1], [1, 0]], nodes=2),
    "DenseRows": lambda: fp.DenseRows([[0, 1]]),
    "Votes": lambda: fp.Votes.from_counts(selection=[[9, 1]], estimation=[[9, 1]], noise=NOISE),
    "Split": lambda: fp.Split(train=[0], validation=[1], test=[]),
    "error": lambda: ValueError("x"),
}  # fmt: skip

HUGE = {"inf", "10**30", "2**63", "list of huge", "long range"}
"""Numbers that are fine where they say how much work to do; doing it would take for ever."""
