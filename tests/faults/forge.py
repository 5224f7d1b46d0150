"""Commands in processes that can be hurt: killed in front of any change of a file, held up, short of memory, mistimed.

A forge is a process that has imported the program and done a small run, so that a command costs a fork and no imports.
Everything it runs is the real program in a real process of its own. Run as a script, this file is the forge itself.
"""

import contextlib
import hashlib
import importlib
import itertools
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# The small run


def write_table(path):
    """A table whose first two columns say what the label is."""
    rows = np.random.default_rng(0).integers(0, 3, (60, 4))
    lines = [",".join([*("xyz"[value] for value in row), "no" if row[0] < row[1] else "yes"]) for row in rows]
    path.write_text("\n".join(["a,b,c,d,label", *lines]) + "\n")
    return path


NOISE = ["--p-plus", "0.05", "--p-minus", "0.05", "--noisy-samples", "2"]
FEW = ["--samples", "300", "--select-samples", "40", "--memory", "2MB"]  # so little memory makes several chunks
MORE = ["--samples", "500", "--select-samples", "40", "--memory", "2MB"]


def train(table, folder):
    return ["train", "--dataset", table, "--out", folder, *NOISE]


def whole_run(table, folder, *flags):
    """Train, vote and certify; a report only if it is asked for, because it takes longer than all the rest."""
    return ["run", "--dataset", table, "--out", folder, *NOISE, *FEW, *(flags or ["--no-report"])]


def outcome(folder):
    """What a run has found, without the times it took: the same for equal runs, however often they were hurt."""
    record = json.loads((folder / "run.json").read_text())
    with np.load(folder / "votes.npz") as votes:
        counts = {name: votes[name].tolist() for name in votes.files if name != "metadata.json"}
    hashes = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("weights.safetensors", "inputs.npz", "certificates.npz")
    }
    claim = json.loads((folder / "certificates.json").read_text())
    del claim["hashes"]["votes"], claim["hashes"]["record"]  # the files say how long things took
    return counts | hashes | {"task": record["task"], "promise": record["certificates"], "claim": claim}


KNOWN = {
    "run.json", "weights.safetensors", "inputs.npz", "votes.npz", "votes.checkpoint", "certificates.json",
    "certificates.npz", "report.html", "figures", "heatmap.png", "heatmap.svg", "lines.png", "lines.svg", "bounds.png",
    "bounds.svg",
}  # fmt: skip


def leftovers(folder):
    """Temporary files. Who is refused takes them away, those of who was killed go with the next command."""
    return sorted(path.name for path in folder.rglob(".*") if path.name != ".lock")


_ENDS = {".html": b"</html>", ".svg": b"</svg>", ".png": b"IEND\xaeB`\x82"}


def check_whole(folder):
    """Every file that has a name has all its contents, and there are no others; hidden ones are nobody's contents."""
    for path in folder.rglob("*"):
        if path.name.startswith(".") or path.is_dir():
            continue
        assert path.name in KNOWN, path
        if path.suffix == ".json":
            json.loads(path.read_text())
        elif path.suffix == ".npz":
            with np.load(path) as arrays:
                assert [arrays[name].shape for name in arrays.files if name != "metadata.json"]
        elif path.suffix in _ENDS:
            assert path.read_bytes().rstrip().endswith(_ENDS[path.suffix]), path


# The client


@dataclass(frozen=True)
class Done:
    """How a process ended: its exit code, or the negative number of the signal; what it said."""

    code: int
    out: str
    err: str

    @property
    def refused(self):
        """Whether it was refused in one clear line."""
        return self.code == 2 and self.err.count("\n") == 1 and self.err.startswith("flipproof: ")


class Forge:
    """Starts commands in processes of their own."""

    def __init__(self, table):
        self._process = subprocess.Popen(
            [sys.executable, __file__, table], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._files = tempfile.TemporaryDirectory()
        self._numbers = itertools.count()
        assert self._process.stdout.readline() == "ready\n"

    def start(self, *arguments, fault=None):
        """Begins a command; `fault` is the name of a function below and its arguments."""
        outputs = [f"{self._files.name}/{next(self._numbers)}" for _ in range(2)]
        return self._ask("start", list(map(str, arguments)), fault, *outputs), *outputs

    def wait(self, started):
        """Waits for the end of what was started."""
        pid, *outputs = started
        try:
            code = self._ask("wait", pid)
        except TimeoutError:  # the test hangs; the next ones need not
            os.kill(pid, signal.SIGKILL)
            self._process.stdout.readline()
            raise
        return Done(code, *(Path(path).read_text() for path in outputs))

    def run(self, *arguments, fault=None):
        """Starts a command and waits for its end."""
        return self.wait(self.start(*arguments, fault=fault))

    def _ask(self, *request):
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._files.cleanup()


# Faults, installed in the process that runs a command

_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod", "os.link", "os.symlink")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def before_changes(folder, act):
    """Calls `act(number, what)` in front of every change below a folder, and in the middle of every write.

    Python announces most changes to audit hooks. It keeps quiet about `os.write` and `os.fsync`, so these are wrapped.
    """
    numbers, busy = itertools.count(1), []

    def note(what, path):
        if busy or not str(os.fsdecode(path)).startswith(str(folder)):
            return
        busy.append(True)  # what the act itself does is no change
        act(next(numbers), what)
        busy.clear()

    def hook(event, arguments):
        opened = event == "open" and arguments[2] is not None and arguments[2] & _WRITING
        if (opened or event in _CHANGES) and isinstance(arguments[0], str | bytes | os.PathLike):
            note(event, arguments[0])

    def path_of(descriptor):
        with contextlib.suppress(OSError):
            return os.readlink(f"/proc/self/fd/{descriptor}")
        return ""

    def write(descriptor, content, write=os.write):
        half = len(content) // 2
        written = write(descriptor, content[:half]) if half else 0
        note("os.write", path_of(descriptor))
        return written + write(descriptor, content[written:])

    def fsync(descriptor, fsync=os.fsync):
        note("os.fsync", path_of(descriptor))
        fsync(descriptor)

    def ftruncate(descriptor, length, ftruncate=os.ftruncate):
        note("os.ftruncate", path_of(descriptor))
        ftruncate(descriptor, length)

    os.write, os.fsync, os.ftruncate = write, fsync, ftruncate
    sys.addaudithook(hook)


def die_at(folder, number):
    """SIGKILL in front of the change with this number."""

    def act(reached, what):
        if reached == number:
            with open(2, "w", closefd=False) as stderr:
                stderr.write(what)
            os.kill(os.getpid(), signal.SIGKILL)

    before_changes(folder, act)


def kill_a_worker_at(folder, number, how=signal.SIGKILL):
    """A signal for one of the workers in front of the change with this number."""

    def act(reached, _):
        if reached == number:
            [children] = Path("/proc/self/task").glob(f"{os.getpid()}/children")
            os.kill(int(children.read_text().split()[0]), how)

    before_changes(folder, act)


def stop_a_worker_at(folder, number):
    """One of the workers stands still from the change with this number on."""
    kill_a_worker_at(folder, number, signal.SIGSTOP)


def pause_at(folder, number, arrived, leave):
    """In front of the change with this number, opens the fifo `arrived`, and goes on when `leave` was opened too."""

    def act(reached, _):
        if reached == number:
            with open(arrived, "w"):
                pass
            with open(leave):
                pass

    before_changes(folder, act)


def leaping_clock():
    """The wall clock leaps by days, back and forth, whenever somebody looks at it, and files have such times too."""
    import datetime

    leaps = itertools.cycle([400.0, -300.0, 0.25, -1000.0])
    day, truth = 24 * 3600.0, time.time

    def now():
        return truth() + day * next(leaps)

    class Leaping(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls.fromtimestamp(now(), tz)

        @classmethod
        def utcnow(cls):
            return cls.now(datetime.UTC)

    time.time, time.time_ns, datetime.datetime = now, lambda: int(now() * 1e9), Leaping

    def replace(source, target, replace=os.replace):
        os.utime(source, (now(), now()))
        replace(source, target)

    os.replace = replace


def little_memory(extra):
    """So many bytes of memory more than there are in use now."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + extra, resource.RLIM_INFINITY))


FAULTS = {
    each.__name__: each for each in (die_at, kill_a_worker_at, stop_a_worker_at, pause_at, leaping_clock, little_memory)
}

# The forge


def command(arguments):
    """The program, or for `call MODULE:FUNCTION ARGUMENT ...` a function of a test."""
    from flipproof import cli

    if arguments[0] == "call":
        place, _, name = arguments[1].partition(":")
        sys.path[:0] = [str(Path(place).parent), str(Path(place).parents[1])]
        getattr(importlib.import_module(Path(place).stem), name)(*arguments[2:])
        sys.exit(0)
    sys.argv = ["flipproof", *arguments]
    cli.main()


def in_a_child(arguments, fault, out, err):
    """The process id of a child that runs a command."""
    if pid := os.fork():
        return pid
    for path, descriptor in ((os.devnull, 0), (out, 1), (err, 2)):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), descriptor)
    try:
        if fault:
            FAULTS[fault[0]](*fault[1:])
        command(arguments)
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 1
    with contextlib.suppress(BaseException):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def end_of(pid):
    """The exit code of a child."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def warm_up(table):
    """Imports and compiles everything that a run needs."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        for arguments in (whole_run(table, f"{folder}/run"), ["report", f"{folder}/run"]):
            with contextlib.suppress(SystemExit):
                command([*map(str, arguments)])


def main(table):
    """Answers requests, one on each line."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):
        warm_up(table)
    print("ready", flush=True)
    for line in sys.stdin:
        request, *details = json.loads(line)
        answer = {"start": in_a_child, "wait": end_of}[request](*details)
        print(json.dumps(answer), flush=True)
    os._exit(0)  # to take everything apart would take seconds


if __name__ == "__main__":
    main(sys.argv[1])
