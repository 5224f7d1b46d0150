"""Provable robustness of classifiers of discrete data, by sparsity-aware randomized smoothing.

Names are loaded when first used, so that importing the package, and `flipproof --help`, cost next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from flipproof.extras import provide as _provide

if TYPE_CHECKING:
    from flipproof import baselines as baselines
    from flipproof import datasets as datasets
    from flipproof.errors import FileFormatError as FileFormatError
    from flipproof.errors import FlipproofError as FlipproofError
    from flipproof.errors import InvalidInputError as InvalidInputError
    from flipproof.errors import OutputError as OutputError
    from flipproof.errors import TooLargeError as TooLargeError
    from flipproof.extras import MissingExtraError as MissingExtraError
    from flipproof.models.adapters.graph_classifier import GraphClassifier as GraphClassifier
    from flipproof.models.adapters.node_classifier import NodeClassifier as NodeClassifier
    from flipproof.models.adapters.sklearn_classifier import SklearnClassifier as SklearnClassifier
    from flipproof.models.adapters.torch_classifier import TorchClassifier as TorchClassifier
    from flipproof.models.networks.graph_modules import GIN as GIN
    from flipproof.models.networks.image_modules import CNN as CNN
    from flipproof.models.networks.node_modules import APPNP as APPNP
    from flipproof.models.networks.node_modules import GAT as GAT
    from flipproof.models.networks.node_modules import GCN as GCN
    from flipproof.models.networks.text_modules import WordMean as WordMean
    from flipproof.models.training.fitting import TrainingError as TrainingError
    from flipproof.models.training.train import fit_estimator as fit_estimator
    from flipproof.models.training.train import train as train
    from flipproof.noise.ablation import AblationNoise as AblationNoise
    from flipproof.noise.gaussian import GaussianNoise as GaussianNoise
    from flipproof.noise.gaussian import RealRows as RealRows
    from flipproof.noise.spaces.graph import Graph as Graph
    from flipproof.noise.spaces.graphs import Graphs as Graphs
    from flipproof.noise.spaces.images import Images as Images
    from flipproof.noise.spaces.rows import DenseRows as DenseRows
    from flipproof.noise.spaces.rows import SparseRows as SparseRows
    from flipproof.noise.spaces.table import Table as Table
    from flipproof.noise.spaces.texts import Texts as Texts
    from flipproof.noise.spaces.tokens import Tokens as Tokens
    from flipproof.pipeline.audit import verify as verify
    from flipproof.report.robustness import Robustness as Robustness
    from flipproof.report.robustness import robustness as robustness
    from flipproof.report.writing import in_words as in_words
    from flipproof.report.writing import write_report as write_report
    from flipproof.run_folder.split import Split as Split
    from flipproof.run_folder.task import TrainingSettings as TrainingSettings
    from flipproof.smoothing.certificates import Certificates as Certificates
    from flipproof.smoothing.certify import certify as certify
    from flipproof.smoothing.classifier import Classifier as Classifier
    from flipproof.smoothing.classifier import ClassifierError as ClassifierError
    from flipproof.smoothing.classifier import FunctionClassifier as FunctionClassifier
    from flipproof.smoothing.classifier import UnstableClassifierError as UnstableClassifierError
    from flipproof.smoothing.run import Run as Run
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
    "pipeline.audit": ("verify",),
    "extras": ("MissingExtraError",),
    "models.adapters.graph_classifier": ("GraphClassifier",),
    "models.networks.graph_modules": ("GIN",),
    "models.networks.image_modules": ("CNN",),
    "models.adapters.node_classifier": ("NodeClassifier",),
    "models.networks.node_modules": ("APPNP", "GAT", "GCN"),
    "models.adapters.sklearn_classifier": ("SklearnClassifier",),
    "models.networks.text_modules": ("WordMean",),
    "models.adapters.torch_classifier": ("TorchClassifier",),
    "models.training.train": ("fit_estimator", "train"),
    "models.training.fitting": ("TrainingError",),
    "noise.ablation": ("AblationNoise",),
    "noise.gaussian": ("GaussianNoise", "RealRows"),
    "noise.spaces.graph": ("Graph",),
    "noise.spaces.graphs": ("Graphs",),
    "noise.spaces.images": ("Images",),
    "noise.spaces.rows": ("DenseRows", "SparseRows"),
    "noise.spaces.table": ("Table",),
    "noise.spaces.texts": ("Texts",),
    "noise.spaces.tokens": ("Tokens",),
    "report.robustness": ("Robustness", "robustness"),
    "report.writing": ("in_words", "write_report"),
    "smoothing.certificates": ("Certificates",),
    "smoothing.certify": ("certify",),
    "smoothing.classifier": ("Classifier", "ClassifierError", "FunctionClassifier", "UnstableClassifierError"),
    "smoothing.run": ("Run",),
    "run_folder.split": ("Split",),
    "run_folder.task": ("TrainingSettings",),
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
_provide("plots", "flipproof.report.figures.figures")  # which certificates draw with
_provide("adapters", "flipproof.models.adapters.adapted")  # which turn models as they are into classifiers

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
