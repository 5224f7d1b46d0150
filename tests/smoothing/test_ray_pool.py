"""Pools on one real Ray of this machine. Where a test must know what happened in a worker, it left a file behind."""

import contextlib
import ctypes
import importlib.util
import itertools
import os
import platform
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import flipproof as fp
from flipproof.base.threads import ONE_THREAD_ENVIRONMENT
from flipproof.cli.run_options import MachineOptions
from flipproof.cli.values import machine_of
from flipproof.extras import MissingExtraError
from flipproof.pipeline.models import on_device
from flipproof.pipeline.steps import Machine, Samples, certify_run, train_run, vote_run
from flipproof.run_folder.folder import RunFolder
from flipproof.run_folder.task import ModelSpec, PerClass, Task, TrainingSettings
from flipproof.smoothing.classifier import WorkerError
from flipproof.smoothing.voting.chunks import Chunk, ChunkPlan, check_workers
from flipproof.smoothing.voting.drawn_samples import SampleRanges
from flipproof.smoothing.workers import ray_connection
from flipproof.smoothing.workers.ray_pool import ChunkGroups, RayPool
from hanging import no_test_waits_forever  # noqa: F401 (a fixture for all tests here)

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed")
CPUS = 2


@pytest.fixture(scope="module")
def ray_here():
    """A program that has started Ray itself."""
    ray = pytest.importorskip("ray", reason="ray is not installed")
    before = signal.getsignal(signal.SIGTERM)
    short = tempfile.TemporaryDirectory(prefix="fp-", dir="/tmp", ignore_cleanup_errors=True)
    with short as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(
            address="local", num_cpus=CPUS, include_dashboard=False, log_to_driver=False, logging_level="CRITICAL",
            _temp_dir=folder,
        )  # fmt: skip
        yield ray
        ray.shutdown()
    signal.signal(signal.SIGTERM, before)


def results(work, tasks):
    with RayPool(work) as pool:
        return sorted(pool.map_unordered(tasks))


def raised_by(work):
    with RayPool(work) as pool, pytest.raises(Exception) as caught:  # noqa: PT011 (which one it is, the callers look at)
        list(pool.map_unordered(["the task"]))
    return caught.value


# Results


@pytest.mark.parametrize("tasks", [0, 1, 30])
def test_every_task_has_its_result(ray_here, tasks):
    offset = 5
    assert results(lambda number: number + offset, range(tasks)) == [(task, task + 5) for task in range(tasks)]


def test_a_pool_says_where_it_works_and_leaves_a_ray_that_was_there(ray_here):
    with RayPool(lambda task: task) as pool:
        assert pool.places == "1 node, 2 CPUs"
    assert ray_here.is_initialized()


def test_work_is_unpacked_once_in_every_process(ray_here, tmp_path):
    class Work:
        def __reduce__(self):
            return unpacked, (str(tmp_path),)

    def unpacked(folder):
        with open(os.path.join(folder, str(os.getpid())), "a") as stream:
            stream.write("x")
        return lambda _: os.getpid()

    pids = {pid for _, pid in results(Work(), range(40))}
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {str(pid): "x" for pid in pids}


def test_work_is_a_snapshot(ray_here):
    state = {"value": 1}
    with RayPool(lambda _: state["value"]) as pool:
        state["value"] = 2
        assert list(pool.map_unordered([0])) == [(0, 1)]


def test_tasks_are_drawn_when_there_is_room_for_them(ray_here):
    drawn = itertools.count()
    with RayPool(lambda task: None) as pool:
        next(pool.map_unordered(zip(drawn, itertools.repeat(0))))
    assert next(drawn) <= 2 * CPUS + 1


def test_modules_are_found_where_the_program_finds_them(ray_here, tmp_path, monkeypatch):
    (tmp_path / "module_for_ray.py").write_text("def triple(number):\n    return 3 * number\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    from module_for_ray import triple

    assert results(triple, [1, 2]) == [(1, 3), (2, 6)]


def test_a_worker_has_one_thread(ray_here):
    def work(_):
        import numba
        import threadpoolctl

        np.eye(3) @ np.eye(3)
        counts = {library["num_threads"] for library in threadpoolctl.threadpool_info()}
        return {name: os.environ[name] for name in ONE_THREAD_ENVIRONMENT}, counts, numba.get_num_threads()

    assert results(work, [0]) == [(0, (dict(ONE_THREAD_ENVIRONMENT), {1}, 1))]


@pytest.mark.slow
def test_torch_has_one_thread_and_glibc_keeps_its_memory(ray_here):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    module = torch.nn.Linear(2, 2)

    def work(_):
        return module.weight.shape, torch.get_num_threads(), "MALLOC_TOP_PAD_" in os.environ

    assert results(work, [0]) == [(0, (torch.Size([2, 2]), 1, True))]


# Workers that die, and exceptions of the work


@pytest.mark.slow
def test_the_tasks_of_a_worker_that_dies_are_done_again(ray_here, tmp_path):
    def work(task):
        if task in (3, 4):
            with contextlib.suppress(FileExistsError):
                (tmp_path / str(task)).touch(exist_ok=False)
                os._exit(7)
        return -task

    assert results(work, range(10)) == [(task, -task) for task in range(10)]


@pytest.mark.slow
def test_a_task_that_kills_three_workers_is_named(ray_here, tmp_path):
    def work(task):
        if task == "bad":
            with open(tmp_path / "deaths", "a") as stream:
                stream.write("x")
            os.kill(os.getpid(), signal.SIGKILL)

    error = r"^expected workers to survive their tasks, got one that died 3 times on 'bad'; last exit: WorkerCrashed"
    with RayPool(work) as pool, pytest.raises(WorkerError, match=error):
        list(pool.map_unordered(["good", "bad", "fine"]))
    assert (tmp_path / "deaths").read_text() == "xxx"


def test_the_task_of_a_worker_that_hangs_is_given_to_another(ray_here, tmp_path):
    """It hangs in foreign code that lets no other thread run. Each task has two parts, so it has twice the time."""

    def work(task):
        if task == 3:
            with contextlib.suppress(FileExistsError):
                (tmp_path / "hung").touch(exist_ok=False)
                ctypes.PyDLL(None).pause()
        return -task

    with RayPool(work, timeout=0.5, parts=lambda _: 2) as pool:
        assert sorted(pool.map_unordered(range(6))) == [(task, -task) for task in range(6)]
    assert (tmp_path / "hung").exists()


@pytest.mark.slow
def test_a_task_that_hangs_twice_is_named(ray_here, tmp_path):
    def work(task):
        if task == "stuck":
            with open(tmp_path / "hung", "a") as stream:
                stream.write("x")
            threading.Event().wait()

    error = (
        "^expected a worker to take at most 1 seconds for 'stuck', got 2 that took longer and were stopped; raise the"
    )
    with RayPool(work, timeout=1.0) as pool, pytest.raises(WorkerError, match=error):
        list(pool.map_unordered(["good", "stuck", "fine"]))
    assert (tmp_path / "hung").read_text() == "xx"


@pytest.mark.slow
def test_votes_of_a_chunk_that_hangs_once_are_those_of_one_process(ray_here, tmp_path):
    def label(rows):
        with contextlib.suppress(FileExistsError):
            (tmp_path / "hung").touch(exist_ok=False)
            threading.Event().wait()
        return (rows[:, 0] > 0).astype(int)

    hanging = fp.FunctionClassifier(label, classes=2, fingerprint="hangs once")
    many = fp.vote(hanging, **ASKED, chunk_size=500, workers="ray", timeout=2.0)
    assert (tmp_path / "hung").exists()
    one = fp.vote(first_entry(), **ASKED, chunk_size=500)
    np.testing.assert_array_equal(many.estimation, one.estimation)


def test_an_exception_comes_back_as_itself_and_is_not_tried_again(ray_here, tmp_path):
    def fail_on_purpose(_):
        with open(tmp_path / "calls", "a") as stream:
            stream.write("x")
        raise fp.InvalidInputError("expected a, got b")

    caught = raised_by(fail_on_purpose)
    assert type(caught) is fp.InvalidInputError
    assert str(caught) == "expected a, got b"
    [note] = caught.__notes__
    assert note.startswith("Raised in a worker process:\nTraceback")
    assert "in fail_on_purpose" in note
    assert (tmp_path / "calls").read_text() == "x"


def test_an_exception_that_cannot_come_back_is_told_in_words(ray_here):
    caught = raised_by(lambda _: (_ for _ in ()).throw(ValueError(threading.Lock())))
    assert type(caught) is WorkerError
    assert str(caught).startswith("expected a result of 'the task', got ValueError: <unlocked")


def test_work_that_workers_cannot_unpickle_is_explained(ray_here):
    class Work:
        def __reduce__(self):
            return int, ("x",)

    assert str(raised_by(Work())).startswith("expected a classifier that workers can unpickle, got: ValueError")


def test_machines_with_other_versions_are_refused(ray_here, monkeypatch):
    here = platform.python_version()
    monkeypatch.setattr(platform, "python_version", lambda: "3.0.0")
    error = rf"^expected python 3\.0\.0 on all machines, got {here} on {socket.gethostname()}$"
    with RayPool(lambda task: task) as pool, pytest.raises(WorkerError, match=error):
        list(pool.map_unordered([0]))


@pytest.mark.slow
def test_what_is_in_hand_is_given_up_when_a_run_is_left(ray_here):
    """If the stuck tasks went on, they would keep both CPUs, and the second run could not end."""
    with RayPool(lambda task: threading.Event().wait() if task else 0) as pool:
        run = pool.map_unordered([0, 1, 1, 1])
        assert next(run) == (0, 0)
        run.close()
        assert list(pool.map_unordered([0])) == [(0, 0)]


def test_a_pool_is_used_inside_with(ray_here):
    with RayPool(lambda task: task) as pool:
        run = pool.map_unordered(range(9))
        next(run)
    with pytest.raises(fp.InvalidInputError, match="expected a Ray pool inside its with block, got one outside"):
        list(run)
    assert ray_here.is_initialized()


@needs_ray
def test_work_that_cannot_be_sent_is_refused():
    lock = threading.Lock()
    with pytest.raises(fp.InvalidInputError, match=r"^expected a classifier that can be sent to worker processes"):
        RayPool(lambda _: lock)


# Addresses


@needs_ray
@pytest.mark.parametrize("address", ["", "here", "host:", ":1", "host:70000", "ray://host:10001", 6379])
def test_what_is_no_address_is_refused(address):
    error = "expected the address of a Ray cluster to be HOST:PORT or 'auto', on one of its machines, got "
    with pytest.raises(fp.InvalidInputError, match=error):
        RayPool(len, address)


def test_another_cluster_than_the_one_in_use_is_refused(ray_here):
    error = "expected the Ray cluster that this program already uses, .*, got 127.0.0.1:1$"
    with pytest.raises(fp.InvalidInputError, match=error), RayPool(len, "127.0.0.1:1"):
        pass


def test_the_environment_may_have_the_address(monkeypatch, ray_here):
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(fp.InvalidInputError, match=r"got 127\.0\.0\.1:1$"), RayPool(len):
        pass


def test_an_address_needs_a_cluster():
    with pytest.raises(fp.InvalidInputError, match="expected an address only together with workers='ray', got 'auto'"):
        check_workers(2, "auto")


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r'expected ray to be .*: pip install "flipproof\[cluster\]"$'):
        check_workers("ray")


# A cluster of our own

SCRIPT = """
    import os, signal
    import ray
    from flipproof.smoothing.workers.ray_pool import RayPool

    before = signal.getsignal(signal.SIGTERM)
    with RayPool(lambda task: (task, os.getppid())) as pool:
        [(_, (task, raylet))] = pool.map_unordered([7])
        folder = ray._private.worker._global_node.get_session_dir_path()
        os.kill(raylet, 0)
        print("this is for people")
    try:
        os.kill(raylet, 0)
    except ProcessLookupError:
        print("gone", task)
    print(ray.is_initialized(), os.path.exists(folder), signal.getsignal(signal.SIGTERM) is before)
"""


@needs_ray
@pytest.mark.slow
def test_a_cluster_of_our_own_leaves_nothing_behind(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines() == ["this is for people"]
    assert done.stdout.splitlines() == ["gone 7", "False False True"]


DRIVER = """
    import sys, threading
    from pathlib import Path
    import ray
    from flipproof.smoothing.workers.ray_pool import RayPool

    def work(begun):
        open(begun, "w").close()
        threading.Event().wait()

    with RayPool(work) as pool:
        Path(__file__).with_name("folder").write_text(ray._private.worker._global_node.get_session_dir_path())
        list(pool.map_unordered([sys.argv[1]]))
"""

# Whoever is left by the driver becomes a child of this script, which is then a subreaper.
WATCHER = """
    import ctypes, os, signal, subprocess, sys
    from pathlib import Path

    driver, begun, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
    assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0
    os.mkfifo(begun)
    process = subprocess.Popen([sys.executable, driver, begun], stderr=subprocess.DEVNULL)
    open(begun).close()  # until a worker opens it too
    process.send_signal(number)
    process.wait()

    def give_up(*_):
        children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
        print("left", [Path(f"/proc/{child}/comm").read_text().strip() for child in children])
        for child in children:
            os.kill(int(child), signal.SIGKILL)
        os._exit(1)

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(10)
    try:
        while True:
            os.wait()
    except ChildProcessError:
        print("nobody is left", process.returncode not in (0, -number) or number == signal.SIGINT)
"""


@needs_ray
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says whose processes are left")
@pytest.mark.parametrize(
    "number", [signal.SIGTERM, *(pytest.param(each, marks=pytest.mark.slow) for each in (signal.SIGINT, signal.SIGHUP))]
)
def test_a_signal_ends_a_cluster_of_our_own(tmp_path, number):
    """Also its folder goes, and its locks with the processes that held them."""
    for name, text in {"driver": DRIVER, "watcher": WATCHER}.items():
        (tmp_path / name).write_text(textwrap.dedent(text))
    command = [
        sys.executable,
        str(tmp_path / "watcher"),
        str(tmp_path / "driver"),
        str(tmp_path / "begun"),
        str(+number),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("nobody is left True\n", "")
    assert not Path((tmp_path / "folder").read_text()).exists()


def test_other_handlers_stay_while_ray_is_used():
    """A program that ignores a hang-up (nohup) or has a plan of its own for its end goes on to do so."""

    def plan(*_):
        raise AssertionError("nobody sends a signal")

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    signal.signal(signal.SIGTERM, plan)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ray_connection._handlers():
            assert signal.getsignal(signal.SIGTERM) is plan
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is plan
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# Groups of chunks


def test_spans_grow_until_they_take_some_seconds_and_shrink_again():
    chunks = ChunkPlan(10, 1).chunks("estimate", range(5, 2000), SampleRanges())
    groups, lengths, covered = ChunkGroups(chunks, {"estimate": 10**6}), [], []
    for seconds, group in zip([0.01] * 5 + [1.5] * 500, groups, strict=False):
        lengths.append(len(group.samples))
        covered.extend(group.samples)
        groups.learn(seconds, cpus=8)
    assert lengths[:8] == [5, 20, 40, 80, 160, 320, 10, 10]
    assert covered == list(range(5, 2000))


def test_spans_are_longer_on_a_large_cluster():
    groups = ChunkGroups(ChunkPlan(10, 1).chunks("estimate", range(10**6), SampleRanges()), {"estimate": 10**6})
    for cpus, chunks in ((400, 2), (2_000, 10)):
        for _ in range(5):
            groups.learn(1.0, cpus)
        run = iter(groups)
        assert len(next(run).samples) == 10 * chunks


def test_spans_do_not_reach_over_gaps():
    given = [Chunk("select", range(4)), Chunk("estimate", range(4, 8)), Chunk("estimate", range(12, 16))]
    groups = ChunkGroups(given, {"select": 10**6, "estimate": 10**6})
    groups.learn(0.001, cpus=8)
    assert list(groups) == given


def test_a_span_lies_within_one_portion():
    """As the votes are kept by portions: 64 of 32 samples."""
    groups = ChunkGroups(ChunkPlan(8, 1).chunks("estimate", range(2048), SampleRanges()), {"estimate": 2048})
    for _ in range(9):
        groups.learn(1e-6, cpus=8)
    assert [len(group.samples) for group in groups] == [32] * 64


# Votes

ROWS = np.eye(6, dtype=np.uint8)
ASKED = {"inputs": ROWS, "noise": fp.FlipNoise(0.1, 0.2), "n_select": 50, "n_estimate": 2_000, "seed": 3}


def first_entry():
    return fp.FunctionClassifier(lambda batch: (batch[:, 0] > 0).astype(int), classes=2)


def test_votes_are_those_of_one_process(ray_here, tmp_path):
    one = fp.vote(first_entry(), **ASKED, chunk_size=7)
    many = fp.vote(first_entry(), **ASKED, chunk_size=7, workers="ray", checkpoint=tmp_path / "run.ckpt")
    np.testing.assert_array_equal(many.selection, one.selection)
    np.testing.assert_array_equal(many.estimation, one.estimation)
    assert many.run.identity == one.run.identity
    assert many.run.drawn == 2_050


def test_executors_take_turns_on_a_checkpoint(ray_here, tmp_path):
    path = tmp_path / "run.ckpt"
    parts = [(700, "ray"), (1_100, 1), (2_000, "ray")]
    drawn = [
        fp.vote(first_entry(), **(ASKED | {"n_estimate": samples}), workers=workers, checkpoint=path).run.drawn
        for samples, workers in parts
    ]
    assert drawn == [750, 400, 900]
    last = fp.vote(first_entry(), **ASKED, checkpoint=path)
    np.testing.assert_array_equal(last.estimation, fp.vote(first_entry(), **ASKED).estimation)


def test_a_classifier_fails_as_in_one_process(ray_here):
    one_chunk = ASKED | {"n_select": 0, "n_estimate": 50}  # of several, any may be the first to fail

    def raised(workers):
        with pytest.raises(fp.ClassifierError) as caught:
            fp.vote(fp.FunctionClassifier(lambda rows: rows[:, 0] + 7, classes=2), **one_chunk, workers=workers)
        return str(caught.value)

    assert raised("ray") == raised(1)


def test_outputs_that_change_within_a_span_are_refused(ray_here):
    """One output would fit any number of them, if they were simply added up."""
    graph = fp.Graph.from_edge_index(np.array([[0, 1], [1, 0]]), nodes=3)
    calls = itertools.count()

    def label(graphs):
        return np.zeros((len(graphs), 1 if next(calls) % 4 == 3 else 3), dtype=int)

    classifier = fp.FunctionClassifier(label, classes=2, fingerprint="changes")
    with pytest.raises(fp.ClassifierError, match=r"expected \d outputs as before, got \d"):
        fp.vote(classifier, graph, fp.FlipNoise(0.1, 0.2), 0, 400, chunk_size=2, workers="ray", check=False)


def test_an_address_is_refused_without_ray():
    with pytest.raises(fp.InvalidInputError, match="expected an address only together with workers='ray'"):
        fp.vote(first_entry(), **ASKED, address="auto")


def test_votes_of_devices_are_not_mixed(tmp_path):
    """What counts is where the weights are said to be; this machine has only a CPU."""

    class Weight:
        def __init__(self, kind):
            self.device = type("Device", (), {"type": kind})()

    class Somewhere:
        classes, fingerprint = 2, "the same"

        def __init__(self, kind):
            self.module = type("Module", (), {"parameters": lambda _: iter([Weight(kind)])})()

        def __call__(self, batch):
            return (batch[:, 0] > 0).astype(int)

    here = fp.vote(Somewhere("cpu"), **ASKED, checkpoint=tmp_path / "run.ckpt")
    assert "device" not in here.run.identity
    assert fp.vote(Somewhere("cuda"), **ASKED).run.identity["device"] == "cuda"
    with pytest.raises(fp.FlipproofError, match="device"):
        fp.vote(Somewhere("cuda"), **ASKED, checkpoint=tmp_path / "run.ckpt")


# Runs and commands


@pytest.mark.slow
def test_a_run_is_voted_on_a_cluster(ray_here, planted, tmp_path):
    task = Task("nodes", str(planted), ModelSpec("gcn", hidden=8), "attributes", fp.FlipNoise(0.02, 0.3))
    task = replace(task, training=TrainingSettings(epochs=3), split=PerClass(5, 5))
    train_run(tmp_path / "run", task)
    samples = Samples(n_select=20, n_estimate=100)
    many = vote_run(tmp_path / "run", samples, Machine(workers="ray"))
    assert RunFolder.open(tmp_path / "run").record()["votes"]["workers"] == "ray"
    certify_run(tmp_path / "run")
    one = vote_run(tmp_path / "run", samples, Machine(), force=True)
    np.testing.assert_array_equal(many.estimation, one.estimation)


@pytest.mark.parametrize(
    ("flags", "error"),
    [
        ({"executor": "spark"}, "expected --executor to be one of local, ray, got 'spark'"),
        ({"executor": "ray", "workers": 2}, "--executor ray uses all CPUs of the cluster; leave out --workers"),
        ({"address": "auto"}, "--address auto is only for --executor ray"),
        ({"device": "meta"}, "expected a device that torch can use here, got 'meta': "),
        ({"device": "gpu"}, "expected a device that torch can use here, got 'gpu': "),
    ],
)
def test_flags_that_do_not_go_together_are_refused(flags, error):
    with pytest.raises(fp.InvalidInputError, match=error):
        machine_of(MachineOptions(**flags))


@needs_ray
def test_flags_are_what_they_say():
    assert machine_of(MachineOptions(executor="ray", address="head:6379")) == Machine("ray", address="head:6379")
    assert machine_of(MachineOptions(executor="ray", timeout=60)) == Machine("ray", timeout=60.0)
    assert machine_of(MachineOptions(timeout=0)) == Machine(timeout=None)
    assert machine_of(MachineOptions()) == Machine(1, "2GB", device="cpu")


def test_only_torch_modules_can_be_moved():
    module = pytest.importorskip("torch", reason="torch is not installed").nn.Linear(2, 2)
    moved = on_device(fp.TorchClassifier(module, classes=2), "cpu")
    assert moved.module is module
    with pytest.raises(fp.InvalidInputError, match="expected a torch module for device 'cpu', got FunctionClassifier"):
        on_device(first_entry(), "cpu")
