"""Systems that certify a network itself, which is trained without noise; each is made for one architecture."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from flipproof import baselines
from flipproof.base.threads import single_threaded
from flipproof.base.values import IntArray
from flipproof.baselines.proofs import Proofs
from flipproof.baselines.walks.page_rank import PageRank, SwitchLimit
from flipproof.baselines.walks.page_rank import certify as certify_page_rank
from flipproof.baselines.walks.walk import all_edges, outside_forest
from flipproof.comparison.comparison import Entry
from flipproof.comparison.setting import Setting
from flipproof.noise.spaces.graph import Graph, checked_graph
from flipproof.pipeline.prepared import PreparedTask
from flipproof.run_folder.task import ModelSpec
from flipproof.theory.certificate import ANY

_FLIPS = {"add": "add", "delete": "delete", ANY: "both"}


def has_noisy_attributes(prepared: PreparedTask) -> bool:
    """Whether the attacker changes attributes of nodes."""
    return (prepared.task.kind, prepared.task.noisy) == ("nodes", "attributes")


def has_noisy_edges(prepared: PreparedTask) -> bool:
    """Whether the attacker changes edges between nodes of an undirected graph."""
    return (prepared.task.kind, prepared.task.noisy) == ("nodes", "structure") and not _graph(prepared).edges.directed


def joins_all_nodes(prepared: PreparedTask) -> bool:
    """Whether the attacker changes edges of a graph without isolated nodes, which would have no edge to keep."""
    if not has_noisy_edges(prepared):
        return False
    graph = _graph(prepared)
    heads, tails = graph.edges.index()
    return np.unique(heads[heads != tails]).size == graph.nodes


def gcn_attributes_entries(setting: Setting) -> Iterator[Entry]:
    """Certifies a two-layer GCN under flips of attribute bits, all of which may be at one node."""
    radii, (classifier, trained) = setting.terms.radii, _trained(setting, "gcn")
    for attacker, flips in _FLIPS.items():
        start = time.perf_counter()
        with single_threaded():
            proofs = baselines.gcn_attributes.certify(
                classifier, _graph(setting.prepared), setting.inputs, local=radii[-1], budgets=radii, flips=flips
            )
        yield Entry("gcn_attributes", attacker, "gcn", "none", proofs, trained + time.perf_counter() - start)


def gcn_structure_entries(setting: Setting) -> Iterator[Entry]:
    """Certifies a two-layer GCN under deleted edges."""
    show, (classifier, trained) = setting.runs.machine.progress, _trained(setting, "gcn")
    start = time.perf_counter()
    with single_threaded():
        proofs = baselines.gcn_structure.certify(
            classifier, _graph(setting.prepared), setting.inputs, budgets=setting.terms.radii, progress=show
        )
    yield Entry("gcn_structure", "delete", "gcn", "none", proofs, trained + time.perf_counter() - start)


def page_rank_entries(setting: Setting) -> Iterator[Entry]:
    """Certifies PPNP with an APPNP's features when edges outside a spanning forest are deleted, as published."""
    model, trained = _page_rank(setting)
    proofs, seconds = _page_rank_proofs(setting, model, outside_forest(model.adjacency), " outside a spanning forest")
    spared = "edges of a spanning forest"
    yield Entry("page_rank", "delete", "ppnp", "none", proofs, trained + seconds, spared)


def page_rank_all_edges_entries(setting: Setting) -> Iterator[Entry]:
    """Makes PageRank certificates with a self-loop at every node, so that an attacker may delete any other edge."""
    model, trained = _page_rank(setting)
    looped = model.with_self_loops()
    proofs, seconds = _page_rank_proofs(setting, looped, all_edges(looped.adjacency), "")
    yield Entry("page_rank_all_edges", "delete", "ppnp with loops", "none", proofs, trained + seconds)


def _page_rank(setting: Setting) -> tuple[PageRank, float]:
    classifier, trained = _trained(setting, "appnp")
    return PageRank.from_appnp(classifier, _graph(setting.prepared)), trained


def _page_rank_proofs(setting: Setting, model: PageRank, fragile: IntArray, where: str) -> tuple[Proofs, float]:
    """The proofs for deletions of fragile edges, and the seconds that they took."""
    start = time.perf_counter()
    with single_threaded():
        proofs = certify_page_rank(
            model, setting.terms.radii, SwitchLimit.UNDIRECTED, fragile, setting.inputs, setting.runs.machine.progress
        )
    promise = replace(proofs.promise, threat=f"at most r edges{where} are deleted, each in one or both directions")
    return replace(proofs, promise=promise), time.perf_counter() - start


def _graph(prepared: PreparedTask) -> Graph:
    return checked_graph(prepared.certified.space)


def _trained(setting: Setting, name: str) -> tuple[Any, float]:
    """A network trained without noise, and the seconds that training took."""
    task = setting.prepared.task
    spec = task.model if task.model.name == name else ModelSpec(name)
    training = replace(task.training, noisy_samples=0)
    plain = replace(task, model=spec, noise=setting.noise.without_noise(), training=training)
    return setting.runs.trained(plain)
