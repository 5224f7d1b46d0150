"""Provable robustness of classifiers of discrete data, by sparsity-aware randomized smoothing.

Names are loaded when first used, so that importing the package, and `flipproof --help`, cost next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flipproof import baselines as baselines
    from flipproof import datasets as datasets
    from flipproof.errors import FileFormatError as FileFormatError
    from flipproof.errors import FlipproofError as FlipproofError
    from flipproof.errors import InvalidInputError as InvalidInputError
    from flipproof.errors import OutputError as OutputError
    from flipproof.errors import TooLargeError as TooLargeError
    from flipproof.experiments.audit import verify as verify
    from flipproof.extras import MissingExtraError as MissingExtraError
    from flipproof.models.estimator_training import fit_estimator as fit_estimator
    from flipproof.models.graph_classifier import GraphClassifier as GraphClassifier
    from flipproof.models.graph_modules import GIN as GIN
    from flipproof.models.image_modules import CNN as CNN
    from flipproof.models.node_classifier import NodeClassifier as NodeClassifier
    from flipproof.models.node_modules import APPNP as APPNP
    from flipproof.models.node_modules import GAT as GAT
    from flipproof.models.node_modules import GCN as GCN
    from flipproof.models.sklearn_classifier import SklearnClassifier as SklearnClassifier
    from flipproof.models.text_modules import WordMean as WordMean
    from flipproof.models.torch_classifier import TorchClassifier as TorchClassifier
    from flipproof.models.training import train as train
    from flipproof.models.training_settings import TrainingError as TrainingError
    from flipproof.models.training_settings import TrainingSettings as TrainingSettings
    from flipproof.noise.ablation import AblationNoise as AblationNoise
    from flipproof.noise.gaussian import GaussianNoise as GaussianNoise
    from flipproof.noise.gaussian import RealRows as RealRows
    from flipproof.noise.graph import Graph as Graph
    from flipproof.noise.graphs import Graphs as Graphs
    from flipproof.noise.rows import DenseRows as DenseRows
    from flipproof.noise.rows import SparseRows as SparseRows
    from flipproof.noise.table import Table as Table
    from flipproof.noise.tokens import Tokens as Tokens
    from flipproof.report.writing import in_words as in_words
    from flipproof.report.writing import write_report as write_report
    from flipproof.smoothing.certificates import Certificates as Certificates
    from flipproof.smoothing.certify import certify as certify
    from flipproof.smoothing.classifier import Classifier as Classifier
    from flipproof.smoothing.classifier import ClassifierError as ClassifierError
    from flipproof.smoothing.classifier import FunctionClassifier as FunctionClassifier
    from flipproof.smoothing.classifier import UnstableClassifierError as UnstableClassifierError
    from flipproof.smoothing.run import Run as Run
    from flipproof.smoothing.split import Split as Split
    from flipproof.smoothing.vote import vote as vote
    from flipproof.smoothing.votes import Votes as Votes
    from flipproof.theory.frontier import frontier as frontier
    from flipproof.theory.l0_ball import largest_l0_radius as largest_l0_radius
    from flipproof.theory.law import FlipNoise as FlipNoise
    from flipproof.theory.law import JointNoise as JointNoise
    from flipproof.theory.radii import UNBOUNDED as UNBOUNDED
    from flipproof.theory.radii import Radii as Radii
    from flipproof.theory.regions import Regions as Regions
    from flipproof.theory.regions import regions as regions
    from flipproof.theory.search import largest_radius as largest_radius
    from flipproof.theory.tables import critical_table as critical_table
    from flipproof.theory.tables import mu_table as mu_table
    from flipproof.theory.tables import rho_table as rho_table
    from flipproof.theory.worst_case import critical_probability as critical_probability
    from flipproof.theory.worst_case import mu as mu
    from flipproof.theory.worst_case import rho as rho
    from flipproof.theory.worst_case import rho_upper as rho_upper

_HOMES = {
    "errors": ("FileFormatError", "FlipproofError", "InvalidInputError", "OutputError", "TooLargeError"),
    "experiments.audit": ("verify",),
    "extras": ("MissingExtraError",),
    "models.estimator_training": ("fit_estimator",),
    "models.graph_classifier": ("GraphClassifier",),
    "models.graph_modules": ("GIN",),
    "models.image_modules": ("CNN",),
    "models.node_classifier": ("NodeClassifier",),
    "models.node_modules": ("APPNP", "GAT", "GCN"),
    "models.sklearn_classifier": ("SklearnClassifier",),
    "models.text_modules": ("WordMean",),
    "models.torch_classifier": ("TorchClassifier",),
    "models.training": ("train",),
    "models.training_settings": ("TrainingError", "TrainingSettings"),
    "noise.ablation": ("AblationNoise",),
    "noise.gaussian": ("GaussianNoise", "RealRows"),
    "noise.graph": ("Graph",),
    "noise.graphs": ("Graphs",),
    "noise.rows": ("DenseRows", "SparseRows"),
    "noise.table": ("Table",),
    "noise.tokens": ("Tokens",),
    "report.writing": ("in_words", "write_report"),
    "smoothing.certificates": ("Certificates",),
    "smoothing.certify": ("certify",),
    "smoothing.classifier": ("Classifier", "ClassifierError", "FunctionClassifier", "UnstableClassifierError"),
    "smoothing.run": ("Run",),
    "smoothing.split": ("Split",),
    "smoothing.vote": ("vote",),
    "smoothing.votes": ("Votes",),
    "theory.frontier": ("frontier",),
    "theory.l0_ball": ("largest_l0_radius",),
    "theory.law": ("FlipNoise", "JointNoise"),
    "theory.radii": ("UNBOUNDED", "Radii"),
    "theory.regions": ("Regions", "regions"),
    "theory.search": ("largest_radius",),
    "theory.tables": ("critical_table", "mu_table", "rho_table"),
    "theory.worst_case": ("critical_probability", "mu", "rho", "rho_upper"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = ("baselines", "datasets")

__all__ = sorted((*_HOME_OF, *_MODULES))  # noqa: PLE0605 (a list all the same; type checkers read the imports above)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("flipproof")
    if name in _MODULES:
        return import_module(f"flipproof.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'flipproof' has no attribute {name!r}")
    value = getattr(import_module(f"flipproof.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
