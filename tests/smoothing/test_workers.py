"""Worker pools with real processes. Where a test must know that processes are gone, they hold a pipe until they are."""

import contextlib
import ctypes
import importlib.util
import itertools
import math
import os
import select
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import threadpoolctl

import flipproof as fp
from flipproof.base.threads import ONE_THREAD_ENVIRONMENT, single_threaded
from flipproof.smoothing.classifier import WorkerError
from flipproof.smoothing.workers import processes as module
from flipproof.smoothing.workers.pending_tasks import Watch
from flipproof.smoothing.workers.processes import WorkerPool
from hanging import HANGS, no_test_waits_forever  # noqa: F401 (a fixture for all tests here)


@pytest.fixture
def fifo(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    return str(tmp_path / "fifo")


def results(work, tasks, workers=2):
    with WorkerPool(work, workers) as pool:
        return sorted(pool.map_unordered(tasks))


def square(number):
    return number * number


# Results


@pytest.mark.parametrize(("tasks", "workers"), [(0, 2), (1, 1), (1, 3), (7, 1), (50, 3)])
def test_every_task_has_its_result(tasks, workers):
    assert results(square, range(tasks), workers) == [(task, task**2) for task in range(tasks)]


def test_no_more_workers_are_started_than_there_are_tasks(tmp_path, monkeypatch):
    """Python runs `sitecustomize` in every process that it starts."""
    started = tmp_path / "started"
    started.mkdir()
    (tmp_path / "sitecustomize.py").write_text(f"import os; open({str(started)!r} + f'/{{os.getpid()}}', 'w').close()")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    pids = {str(pid) for _, pid in results(lambda _: os.getpid(), range(2), workers=40)}
    assert {path.name for path in started.iterdir()} == pids
    assert len(pids) == 2


def test_workers_work_at_the_same_time(fifo):
    """Opening a fifo waits for the other end, so neither task can finish without the other."""

    def meet(mode):
        with open(fifo, mode):
            return os.getpid()

    pids = dict(results(meet, ["rb", "wb"]))
    assert len(set(pids.values())) == 2
    assert os.getpid() not in pids.values()


def test_lambdas_and_closures_are_work():
    offset = 5
    assert results(lambda number: number + offset, [1, 2]) == [(1, 6), (2, 7)]


def test_large_arrays_go_both_ways(rng):
    arrays = [rng.standard_normal((300, 1000)) for _ in range(5)]
    with WorkerPool(lambda array: array[::-1] * 2, workers=2) as pool:
        pairs = list(pool.map_unordered(arrays))
    assert {id(task) for task, _ in pairs} == {id(array) for array in arrays}
    for task, result in pairs:
        np.testing.assert_array_equal(result, task[::-1] * 2)


def test_a_read_only_array_stays_read_only(rng):
    array = rng.integers(0, 9, 100)
    array.setflags(write=False)
    with WorkerPool(lambda given: (given.flags.writeable, given), workers=1) as pool:
        [(_, (writable, result))] = pool.map_unordered([array])
    assert not writable
    np.testing.assert_array_equal(result, array)


def test_the_work_is_what_it_was_when_the_pool_was_made():
    weights = np.ones(3)
    pool = WorkerPool(lambda _: weights.sum(), workers=1)
    weights[:] = 7
    with pool:
        assert list(pool.map_unordered([0])) == [(0, 3.0)]


def test_a_pool_does_one_run_after_the_other_with_the_same_workers():
    with WorkerPool(lambda _: os.getpid(), workers=1) as pool:
        first, second = (list(pool.map_unordered(range(3))) for _ in range(2))
    assert first == second


def test_a_run_that_is_left_early_does_not_disturb_the_next():
    with WorkerPool(square, workers=2) as pool:
        run = pool.map_unordered(itertools.count())
        next(run)
        run.close()
        assert sorted(pool.map_unordered([10, 11])) == [(10, 100), (11, 121)]


# Laziness


def test_tasks_are_drawn_as_they_are_needed():
    drawn = []

    def tasks():
        for task in itertools.count():
            drawn.append(task)
            yield task

    with WorkerPool(square, workers=2) as pool:
        for yielded, _ in enumerate(itertools.islice(pool.map_unordered(tasks()), 30), start=1):
            # Two tasks in hand per worker, and one more if both results of a worker came in at once.
            assert len(drawn) <= yielded + 2 * 2 + 1


def test_a_second_task_is_sent_while_the_first_runs(fifo):
    """The first task begins before the second is drawn, and ends only after it has been asked for."""

    def work(task):
        if task == 0:
            with open(fifo) as stream:
                stream.read()
        return task

    def tasks():
        yield 0
        with open(fifo, "w"):
            pass
        yield 1
        yield 2

    assert results(work, tasks(), workers=1) == [(0, 0), (1, 1), (2, 2)]


def test_an_error_of_the_tasks_is_raised():
    def tasks():
        yield 1
        raise KeyError("no more")

    with WorkerPool(square, workers=1) as pool, pytest.raises(KeyError, match="no more"):
        list(pool.map_unordered(tasks()))


# Scripts


def run_script(folder, text, **options):
    script = folder / "script.py"
    script.write_text(textwrap.dedent(text))
    return subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=HANGS, check=True, **options
    )


def test_a_script_needs_no_main_guard(tmp_path):
    """Functions, classes, globals and exceptions of __main__ work as well."""
    script = """
        from dataclasses import dataclass
        from flipproof.smoothing.workers.processes import WorkerPool

        print("started")
        OFFSET = 3

        @dataclass(frozen=True)
        class Point:
            x: int

        class Odd(Exception):
            pass

        def shifted(point):
            if point.x == 99:
                raise Odd("99")
            return Point(point.x + OFFSET)

        with WorkerPool(shifted, workers=2) as pool:
            print(dict(pool.map_unordered([Point(1), Point(2)])) == {Point(1): Point(4), Point(2): Point(5)})
            try:
                list(pool.map_unordered([Point(99)]))
            except Odd as error:
                print("odd", error)
    """
    finished = run_script(tmp_path, script)
    assert finished.stdout.split() == ["started", "True", "odd", "99"]
    assert finished.stderr == ""


def test_printing_and_reading_are_harmless(tmp_path):
    script = """
        import os, sys
        from flipproof.smoothing.workers.processes import WorkerPool

        def talks(task):
            print("said", task)
            os.write(1, b"written\\n")
            os.system("echo echoed")
            return sys.stdin.read(), os.read(0, 10)

        with WorkerPool(talks, workers=1) as pool:
            print(list(pool.map_unordered([0])))
        print(input())
    """
    finished = run_script(tmp_path, script, input="for the parent\n")
    assert finished.stdout == "[(0, ('', b''))]\nfor the parent\n"
    assert sorted(finished.stderr.split()) == ["0", "echoed", "said", "written"]


def test_closed_standard_streams_are_no_obstacle(tmp_path):
    script = f"""
        import os
        from flipproof.smoothing.workers.processes import WorkerPool

        for descriptor in range(3):
            os.close(descriptor)
        with WorkerPool(lambda task: print("lost") or task, workers=2) as pool:
            found = sorted(pool.map_unordered(range(3)))
        with open({str(tmp_path / "found")!r}, "w") as stream:
            print(found, file=stream)
    """
    with contextlib.suppress(subprocess.CalledProcessError):  # Python cannot flush what was closed
        run_script(tmp_path, script)
    assert (tmp_path / "found").read_text() == "[(0, 0), (1, 1), (2, 2)]\n"


def test_modules_are_found_where_the_parent_finds_them(tmp_path, monkeypatch):
    folder = tmp_path / "with {braces} and 'quotes'"
    folder.mkdir()
    (folder / "module_of_a_user.py").write_text("def triple(number):\n    return 3 * number\n")
    monkeypatch.syspath_prepend(str(folder))
    from module_of_a_user import triple

    assert results(triple, [1, 2]) == [(1, 3), (2, 6)]


# Workers that die


# Lambdas travel by value: a child that does not import this module starts sooner.
DEATHS = {
    "signal 9": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "signal 11": lambda: ctypes.string_at(0),
    "status 7": lambda: os._exit(7),
}


@pytest.mark.parametrize("die", DEATHS.values(), ids=DEATHS)
def test_the_tasks_of_a_worker_that_dies_are_done_again(tmp_path, die):
    def work(task):
        if task in (3, 4, 9):
            with contextlib.suppress(FileExistsError):
                (tmp_path / str(task)).touch(exist_ok=False)
                die()
        return -task

    assert results(work, range(20)) == [(task, -task) for task in range(20)]


@pytest.mark.parametrize(("words", "die"), DEATHS.items(), ids=DEATHS)
def test_a_task_that_kills_three_workers_is_named(tmp_path, words, die):
    def work(task):
        if task == "bad":
            with open(tmp_path / "deaths", "a") as stream:
                stream.write("x")
            die()

    words += ", which the system sends when memory runs out; use fewer workers .*" if words == "signal 9" else ""
    error = rf"^expected workers to survive their tasks, got one that died 3 times on 'bad'; last exit: {words}$"
    with WorkerPool(work, workers=2) as pool, pytest.raises(WorkerError, match=error):
        list(pool.map_unordered(["good", "fine", "bad", *map(str, range(9))]))
    assert (tmp_path / "deaths").read_text() == "xxx"


def test_a_worker_that_dies_while_it_has_nothing_to_do_is_replaced():
    with WorkerPool(lambda _: os.getpid(), workers=1) as pool:
        [(_, first)] = pool.map_unordered([0])
        os.kill(first, signal.SIGKILL)
        [(_, second)] = pool.map_unordered([0])
    assert first != second


def test_a_death_is_noticed_though_a_process_of_the_worker_keeps_its_pipe(tmp_path, fifo):
    def work(task):
        with contextlib.suppress(FileExistsError):
            (tmp_path / "died").touch(exist_ok=False)
            if os.fork() == 0:
                with open(fifo) as stream:
                    stream.read()
                os._exit(0)
            os.kill(os.getpid(), signal.SIGKILL)
        return task

    assert results(work, range(3), workers=1) == [(0, 0), (1, 1), (2, 2)]
    with open(fifo, "w"):
        pass  # the forked process reads this to its end, and goes


class Unpicklable:
    """Work whose pickle is a call that goes wrong in the child."""

    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call

    def __call__(self, task):
        return task


def test_workers_that_cannot_start_end_the_run():
    error = r"^expected workers to start, got 3 in a row that died before they were ready; last exit: status 5$"
    with WorkerPool(Unpicklable(os._exit, (5,)), workers=2) as pool, pytest.raises(WorkerError, match=error):
        list(pool.map_unordered(range(10)))


def test_work_that_the_child_cannot_unpickle_is_explained():
    error = r"^expected a classifier that workers can unpickle, got: ValueError: invalid literal for int\(\) .*'x'$"
    with WorkerPool(Unpicklable(int, ("x",)), workers=2) as pool, pytest.raises(WorkerError, match=error):
        list(pool.map_unordered(range(10)))


# Workers that hang


def be_deaf():
    """Foreign code that lets no other thread run, in a process that ignores SIGTERM: only SIGKILL is left."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    ctypes.PyDLL(None).pause()


def wait_forever():
    threading.Event().wait()


@pytest.mark.parametrize("stuck", [wait_forever, be_deaf])
def test_the_task_of_a_worker_that_hangs_is_given_to_another(tmp_path, stuck):
    def work(task):
        if task == 3:
            with contextlib.suppress(FileExistsError):
                (tmp_path / "hangs").touch(exist_ok=False)
                (tmp_path / str(os.getpid())).touch()
                stuck()
        return os.getpid()

    with WorkerPool(work, workers=2, timeout=1.0) as pool:
        pids = dict(pool.map_unordered(range(8)))
    assert sorted(pids) == list(range(8))
    [killed] = [int(path.name) for path in tmp_path.iterdir() if path.name != "hangs"]
    assert pids[3] != killed
    with pytest.raises(ProcessLookupError):
        os.kill(killed, 0)


def test_a_task_that_hangs_twice_is_named(tmp_path):
    def work(task):
        if task == "stuck":
            with open(tmp_path / "hung", "a") as stream:
                stream.write("x")
            threading.Event().wait()
        return task

    error = (
        r"^expected a worker to take at most 1 seconds for 'stuck', got 2 that took longer and were stopped; raise "
        r"the time-out \(timeout=\.\.\., --timeout\) if the classifier is slow, and see why it hangs if it is not$"
    )
    done = []
    with WorkerPool(work, workers=2, timeout=1.0) as pool, pytest.raises(WorkerError, match=error):
        done.extend(task for task, _ in pool.map_unordered(["a", "b", "stuck", "c", "d"]))
    assert (tmp_path / "hung").read_text() == "xx"
    assert set(done) <= {"a", "b", "c", "d"}


def hang_once(folder):
    """Called where work is unpickled."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(os.path.join(folder, "hung"))
        threading.Event().wait()
    return abs


def test_a_worker_that_hangs_before_it_is_ready_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "START", 0.0)  # else such a worker has minutes; here it has as long as a task
    with WorkerPool(Unpicklable(hang_once, (str(tmp_path),)), workers=1, timeout=5.0) as pool:
        assert sorted(pool.map_unordered([-1, -2])) == [(-2, 2), (-1, 1)]


def test_workers_that_never_get_ready_end_the_run(monkeypatch):
    monkeypatch.setattr(module, "START", 0.0)
    error = r"got 3 in a row that died before they were ready; last exit: none; it took too long and was stopped$"
    with (
        WorkerPool(Unpicklable(wait_forever, ()), workers=1, timeout=0.5) as pool,
        pytest.raises(WorkerError, match=error),
    ):
        list(pool.map_unordered(range(3)))


@pytest.fixture
def clock(monkeypatch):
    """The monotonic clock of this process, which goes on when a test says so."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_the_time_of_a_task_begins_when_its_worker_begins(clock):
    """A task waits for the one before it, and every answer takes nine tenths of what is allowed."""

    def tasks():
        for task in range(12):
            clock[0] += 0.9
            yield task

    with WorkerPool(lambda _: os.getpid(), workers=1, timeout=1.0) as pool:
        assert len({pid for _, pid in pool.map_unordered(tasks())}) == 1


def test_a_process_that_was_stopped_for_a_week_kills_nobody(clock):
    """Neither Ctrl-Z nor a laptop that is closed is the fault of a worker."""

    def tasks():
        for task in range(6):
            clock[0] += 7 * 24 * 3600.0
            yield task

    with WorkerPool(lambda _: os.getpid(), workers=1, timeout=2.0) as pool:
        assert len({pid for _, pid in pool.map_unordered(tasks())}) == 1


def test_a_watch_counts_what_it_sees(clock):
    watch = Watch()
    for step, total in ((0.25, 0.25), (0.0, 0.25), (0.5, 0.75), (3600.0, 1.75), (0.25, 2.0)):
        clock[0] += step
        assert watch.seconds() == total


@pytest.mark.parametrize("timeout", [0, -1, math.nan, math.inf, True, "60", [1], 10**400])
def test_the_time_is_checked(timeout):
    error = "^expected timeout to be a positive number of seconds, or None, got "
    with pytest.raises(fp.InvalidInputError, match=error):
        WorkerPool(square, workers=2, timeout=timeout)


# Exceptions of the work


class NamedError(fp.InvalidInputError):
    """Cannot be pickled as it is: the wrong number of arguments, and an attribute that no pickle takes."""

    def __init__(self, name, value):
        super().__init__(f"expected {name}, got {value}")
        self.name = name
        self.lock = threading.Lock()


class TwoArgumentsError(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


class WordyError(Exception):
    """Can be pickled, but comes back with other words."""

    def __init__(self, text):
        super().__init__(f"text: {text}")


def raised_by(work):
    with WorkerPool(work, workers=1) as pool, pytest.raises(BaseException) as caught:  # noqa: PT011
        list(pool.map_unordered(["the task"]))
    return caught.value


def raising(error):
    def fail_on_purpose(_):
        raise error

    return fail_on_purpose


ERRORS = [
    fp.InvalidInputError("expected a, got b"),
    fp.TooLargeError("expected less, got more"),
    WorkerError("expected a worker, got another"),
    ValueError("a", 2),
    KeyError("key"),
    FileNotFoundError(2, "No such file or directory", "name"),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    ZeroDivisionError(),
    SystemExit(3),
    ExceptionGroup("several", [ValueError("one"), TypeError("two")]),
]


@pytest.fixture(scope="module")
def pool_of_errors():
    def work(index):
        raise ERRORS[index]

    with WorkerPool(work, workers=1) as pool:
        yield pool


@pytest.mark.parametrize("index", range(len(ERRORS)), ids=lambda index: type(ERRORS[index]).__name__)
def test_an_exception_comes_back_as_itself(pool_of_errors, index):
    error = ERRORS[index]
    with pytest.raises(type(error)) as caught:
        next(pool_of_errors.map_unordered([index]))
    assert type(caught.value) is type(error)
    assert str(caught.value) == str(error)
    assert str(caught.value.args) == str(error.args)


def test_the_traceback_of_the_child_is_a_note():
    error = ValueError("wrong")
    error.add_note("a hint")
    hint, note = raised_by(raising(error)).__notes__
    assert hint == "a hint"
    assert note.startswith("Raised in a worker process:\nTraceback")
    assert "in fail_on_purpose" in note


def test_our_errors_keep_what_can_be_pickled():
    def work(task):
        raise NamedError("a name", task)

    caught = raised_by(work)
    assert type(caught) is NamedError
    assert str(caught) == "expected a name, got the task"
    assert caught.name == "a name"
    assert not hasattr(caught, "lock")


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (lambda _: (_ for _ in ()).throw(TwoArgumentsError(1, 2)), "TwoArgumentsError: 1 and 2"),
        (lambda _: (_ for _ in ()).throw(WordyError("x")), "WordyError: text: x"),
        (lambda _: (_ for _ in ()).throw(ValueError(threading.Lock())), "ValueError: <unlocked _thread.lock"),
    ],
)
def test_an_exception_that_cannot_come_back_is_told_in_words(work, words):
    caught = raised_by(work)
    assert type(caught) is WorkerError
    assert str(caught).startswith("expected a result of 'the task', got ")
    assert words in str(caught)
    assert "Traceback" in caught.__notes__[0]


def test_results_before_the_error_are_yielded():
    with WorkerPool(lambda task: 12 // task, workers=1) as pool:
        run = pool.map_unordered([1, 2, 0])
        assert [next(run), next(run)] == [(1, 12), (2, 6)]
        with pytest.raises(ZeroDivisionError):
            next(run)


def test_a_result_that_cannot_be_pickled_is_an_error():
    assert "cannot pickle" in str(raised_by(lambda _: threading.Lock()))


def test_a_result_that_cannot_be_unpickled_is_an_error():
    caught = raised_by(lambda _: Unpicklable(int, ("x",)))
    assert type(caught) is WorkerError
    assert str(caught).startswith("expected a result that can be unpickled, got one of 'the task' that cannot: Value")


# Refusals


def test_work_that_cannot_be_sent_is_refused():
    lock = threading.Lock()
    error = r"^expected a classifier that can be sent to worker processes, got <function .*lock.*; use workers=1"
    with pytest.raises(fp.InvalidInputError, match=error):
        WorkerPool(lambda _: lock, workers=2)


def test_a_task_that_cannot_be_sent_is_refused():
    error = r"^expected tasks that can be sent to worker processes, got <unlocked .*: TypeError: cannot pickle"
    with WorkerPool(square, workers=2) as pool, pytest.raises(fp.InvalidInputError, match=error):
        list(pool.map_unordered([1, threading.Lock()]))


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, None, "2"])
def test_the_number_of_workers_is_checked(workers):
    with pytest.raises(fp.InvalidInputError, match="expected workers to be a positive integer, got"):
        WorkerPool(square, workers)


def test_a_pool_is_used_inside_with_and_for_one_run_at_a_time():
    pool = WorkerPool(square, workers=1)
    with pytest.raises(fp.InvalidInputError, match="expected a worker pool that is idle, got one that is not opened"):
        next(pool.map_unordered([1]))
    with pool:
        run = pool.map_unordered([1, 2, 3, 4])
        next(run)
        with pytest.raises(fp.InvalidInputError, match="expected a worker pool that is idle, got one that is busy"):
            next(pool.map_unordered([1]))
    with pytest.raises(fp.InvalidInputError, match="got one that is closed"):
        list(run)
    with pytest.raises(fp.InvalidInputError, match="got one that is closed"), pool:
        pass


# The end


def holding(fifo, stuck):
    """Work that tells its process id through the fifo and keeps it open, then gets stuck."""

    def work(_):
        descriptor = os.open(fifo, os.O_WRONLY)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        stuck()

    return work


def spin_forever():
    while True:
        pass


def read_until(descriptor, lines=None):
    """The lines that arrive at a fifo: so many of them, or all until nobody has it open any more."""
    text = b""
    while lines is None or text.count(b"\n") < lines:
        assert select.select([descriptor], [], [], HANGS)[0], "processes are still there"
        if not (more := os.read(descriptor, 1000)):
            break
        text += more
    return text.split()


@contextlib.contextmanager
def reading(fifo):
    descriptor = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(descriptor, True)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class Left(BaseException):
    pass


@pytest.mark.parametrize("stuck", [wait_forever, spin_forever, be_deaf])
def test_leaving_the_pool_ends_its_workers(fifo, stuck):
    with reading(fifo) as descriptor:

        def tasks():
            yield from range(2)
            pids.extend(read_until(descriptor, lines=2))
            raise Left

        pids = []
        with pytest.raises(Left), WorkerPool(holding(fifo, stuck), workers=2) as pool:
            list(pool.map_unordered(tasks()))
        assert len(pids) == 2
        assert read_until(descriptor) == []
        for pid in pids:
            with pytest.raises(ProcessLookupError):  # waited for, so not even a zombie is left
                os.kill(int(pid), 0)


PARENT = """
    import os, signal, sys, threading
    from flipproof.smoothing.workers.processes import WorkerPool

    def work(_):
        descriptor = os.open({fifo!r}, os.O_WRONLY)
        os.write(descriptor, b"%d\\n" % os.getpid())
        {stuck}

    with WorkerPool(work, workers=2) as pool:
        for _ in pool.map_unordered(range(9)):
            pass
"""


@contextlib.contextmanager
def parent_of_two(tmp_path, fifo, stuck):
    """A script whose two workers are stuck in their tasks, and the fifo that they hold."""
    script = tmp_path / "parent.py"
    script.write_text(textwrap.dedent(PARENT).format(fifo=fifo, stuck=stuck))
    with reading(fifo) as descriptor:
        process = subprocess.Popen(
            [sys.executable, str(script)], stderr=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        with process:
            assert len(read_until(descriptor, lines=2)) == 2
            yield process, descriptor


@pytest.mark.parametrize(
    ("how", "stuck"),
    [
        (signal.SIGKILL, "threading.Event().wait()"),
        (signal.SIGKILL, "while True: pass"),
        (signal.SIGTERM, "threading.Event().wait()"),
    ],
)
def test_no_worker_survives_its_parent(tmp_path, fifo, how, stuck):
    with parent_of_two(tmp_path, fifo, stuck) as (process, descriptor):
        process.send_signal(how)
        assert process.wait(HANGS) == -how
        assert read_until(descriptor) == []
        assert process.stderr.read() == b""


def test_ctrl_c_ends_all_and_only_the_parent_speaks_of_it(tmp_path, fifo):
    with parent_of_two(tmp_path, fifo, "threading.Event().wait()") as (process, descriptor):
        os.killpg(process.pid, signal.SIGINT)
        assert read_until(descriptor) == []
        assert process.wait(HANGS) == -signal.SIGINT
        assert process.stderr.read().count(b"KeyboardInterrupt") == 1


def test_a_worker_does_not_mind_ctrl_c():
    def work(task):
        os.kill(os.getpid(), signal.SIGINT)
        return task, signal.pthread_sigmask(signal.SIG_BLOCK, [])

    assert results(work, range(3)) == [(task, (task, set())) for task in range(3)]


# Threads


def thread_counts():
    return [library["num_threads"] for library in threadpoolctl.threadpool_info()]


def test_a_worker_has_one_thread():
    def work(_):
        np.eye(3) @ np.eye(3)
        return {name: os.environ[name] for name in ONE_THREAD_ENVIRONMENT}, set(thread_counts())

    [(_, (environment, counts))] = results(work, [0])
    assert environment == dict(ONE_THREAD_ENVIRONMENT) == dict.fromkeys(ONE_THREAD_ENVIRONMENT, "1")
    assert counts == {1}


def test_one_thread_inside_and_as_before_afterwards():
    with threadpoolctl.threadpool_limits(2):
        before = thread_counts()
        with contextlib.suppress(Left), single_threaded():
            inside = thread_counts()
            raise Left
        assert thread_counts() == before
    assert set(inside) == {1}


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_torch_has_one_thread_if_it_is_there(tmp_path):
    script = """
        import sys
        from flipproof.base.threads import single_threaded

        with single_threaded():
            print("torch" in sys.modules)
        import torch
        torch.set_num_threads(2)
        with single_threaded():
            print(torch.get_num_threads())
        print(torch.get_num_threads())
    """
    assert run_script(tmp_path, script).stdout.split() == ["False", "1", "2"]


def test_one_process_needs_nothing_of_workers(tmp_path):
    script = """
        import sys
        import flipproof as fp

        classifier = fp.FunctionClassifier(lambda rows: (rows.sum(axis=1) > 1).astype(int), classes=2)
        fp.vote(classifier, [[0, 1, 1]], fp.FlipNoise(0.1, 0.2), 10, 10, progress=False)
        print([name for name in sys.modules if name == "ray" or "smoothing.workers" in name])
    """
    assert run_script(tmp_path, script).stdout.strip() == "[]"
