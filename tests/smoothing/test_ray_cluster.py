"""Votes on a real Ray cluster of several nodes, one of which dies on the way."""

import contextlib
import os
import signal
import socket
import tempfile
import threading

import numpy as np
import pytest

import flipproof as fp
from flipproof.noise.sampling.samplers import Role
from flipproof.smoothing.workers import ray_connection
from flipproof.smoothing.workers.ray_pool import RayPool
from hanging import no_test_waits_forever  # noqa: F401 (a fixture for all tests here)

pytest.importorskip("ray", reason="ray is not installed")

# Ray would need twenty seconds to notice that a node has died.
HEALTH = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 3}


@pytest.fixture
def cluster(monkeypatch):
    """A head without CPUs and three nodes with one each; the folder keeps the names of sockets short."""
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    with tempfile.TemporaryDirectory(prefix="fp-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        # Ray notes the address of the cluster in a folder "ray" of its own, which it does not make.
        monkeypatch.setenv("RAY_TMPDIR", folder)
        os.mkdir(os.path.join(folder, "ray"))
        head = {"num_cpus": 0, "include_dashboard": False, "temp_dir": folder, "_system_config": HEALTH}
        nodes = Cluster(initialize_head=True, head_node_args=head)
        try:
            for _ in range(3):
                nodes.add_node(num_cpus=1)
            yield nodes
        finally:
            nodes.shutdown()


def test_a_node_may_die_and_nothing_is_lost(cluster, planted, tmp_path):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.manual_seed(0)
    plain = fp.NodeClassifier(fp.GCN(features=24, classes=3, hidden=8), classes=3)
    data = fp.datasets.NodeDataset.load(planted)
    graph = fp.Graph.from_scipy(data.adjacency, data.attributes, noisy="attributes")
    noise, seed, died = fp.FlipNoise(0.05, 0.3), 5, tmp_path / "died"
    # In the middle: it takes more tasks than are given out at first to come so far.
    [fatal] = graph.sampler(noise, seed).draw(Role.ESTIMATE, range(100, 101), np.arange(1))

    def deadly(graphs):
        """Once, takes its node down and goes with it: the parent of a worker is its raylet."""
        if np.array_equal(graphs[0].attributes.indices, fatal.attributes.indices):
            with contextlib.suppress(FileExistsError):
                died.touch(exist_ok=False)
                os.kill(os.getppid(), signal.SIGKILL)
                os.kill(os.getpid(), signal.SIGKILL)
        return plain(graphs)

    asked = {"inputs": graph, "noise": noise, "n_select": 20, "seed": seed, "chunk_size": 4}
    ours = fp.FunctionClassifier(deadly, classes=3, fingerprint="a GCN")
    alike = fp.FunctionClassifier(plain, classes=3, fingerprint="a GCN")
    with RayPool(len, cluster.address) as pool:
        assert pool.places == "3 nodes, 3 CPUs"

    path = tmp_path / "run.ckpt"
    fp.vote(ours, **asked, n_estimate=300, workers="ray", address=cluster.address, checkpoint=path)
    raylets = [node.all_processes["raylet"][0].process.poll() for node in cluster.worker_nodes]
    assert sorted(raylets, key=str) == [-signal.SIGKILL, None, None]
    more = fp.vote(alike, **asked, n_estimate=320, checkpoint=path)
    assert more.run.drawn == 20
    expected = fp.vote(plain, **asked, n_estimate=320)
    np.testing.assert_array_equal(more.selection, expected.selection)
    np.testing.assert_array_equal(more.estimation, expected.estimation)


HTTP2 = b"\0\0\0\x04" + bytes(5)  # how a server that speaks HTTP/2 begins
ECHO = "whatever it hears"


@pytest.mark.parametrize("greeting", [None, b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", HTTP2, ECHO])
def test_an_address_without_a_cluster_is_refused_at_once(greeting):
    server = socket.create_server(("127.0.0.1", 0))
    address = f"127.0.0.1:{server.getsockname()[1]}"

    def greet():
        connection, _ = server.accept()
        heard = connection.recv(1000)
        connection.sendall(heard if greeting is ECHO else greeting)
        connection.close()

    if greeting is None:
        server.close()
        error = rf"^expected a Ray cluster at {address}, got: Connection refused$"
    else:
        threading.Thread(target=greet).start()
        error = rf"^expected a Ray cluster at {address}, got something else that listens there$"
    with server, pytest.raises(fp.InvalidInputError, match=error), RayPool(len, address):
        pass


@pytest.mark.parametrize("greeting", [b"", HTTP2])
def test_an_address_that_keeps_silent_is_refused(greeting, monkeypatch):
    """Ray itself would wait for many minutes. How long it may be silent is shortened, so that the test is."""
    monkeypatch.setattr(ray_connection, "_PATIENCE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        accepted = []

        def greet():
            accepted.append(server.accept()[0])
            accepted[0].sendall(greeting)

        thread = threading.Thread(target=greet)
        thread.start()
        error = rf"^expected a Ray cluster at {address}, got: timed out$"
        with pytest.raises(fp.InvalidInputError, match=error), RayPool(len, address):
            pass
        thread.join()
        accepted[0].close()


def test_silence_is_over_before_the_docs_say():
    assert ray_connection._PATIENCE < 5
