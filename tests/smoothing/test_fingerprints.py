"""What is the same has the same fingerprint, in every process; what differs in content has another one."""

import copy
import enum
import functools
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter, OrderedDict, defaultdict
from dataclasses import dataclass
from types import CodeType

import cloudpickle
import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.smoothing.fingerprint.fingerprints import fingerprint

NAN = float("nan")


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Tone(enum.IntEnum):
    RED = 1


@dataclass
class Point:
    x: object
    y: object = None


class Thing:
    def __init__(self, **state):
        self.__dict__.update(state)


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a


DIFFERENT = {
    "kinds of one": [1, True, 1.0, 1 + 0j, "1", b"1", np.int64(1), np.float64(1), np.float32(1), np.array(1), Tone.RED],
    "kinds of nothing": [None, (), [], {}, set(), frozenset(), "", b"", bytearray(), 0, False, np.zeros(0), Ellipsis],
    "floats": [0.0, -0.0, NAN, np.inf, -np.inf, 5e-324, np.float64(0)],
    "integers": [0, 1, -1, 127, 128, 255, 256, -128, -129, 2**64, 10**5000],
    "texts": ["a", "A", "\ud800", "ab", "\0", "a\0"],
    "nesting": [["ab"], ["a", "b"], [["a"], "b"], [["a", "b"]], ("a", "b"), ["a", ["b"]], [[], "ab"], "ab"],
    "mappings": [{"a": 1}, {"a": 2}, {"b": 1}, {1: "a"}, [("a", 1)], OrderedDict(a=1), Counter(a=1)],
    "defaults": [defaultdict(int, a=1), defaultdict(float, a=1), defaultdict(int, a=2)],
    "sets": [{1, 2}, {1, 3}, {1}, frozenset({1, 2}), [1, 2], {(1, 2)}],
    "shapes": [np.zeros((2, 3)), np.zeros((3, 2)), np.zeros(6), np.zeros((2, 3), np.float32), np.zeros((2, 3, 1))],
    "empty shapes": [np.zeros((0, 3)), np.zeros((3, 0)), np.zeros(0), np.zeros(0, int)],
    "arrays": [np.array([1, 2]), np.array([2, 1]), np.array([1, 2], object), np.array(["1", "2"]), [1, 2]],
    "dates": [np.array(["2020-01-01"], "M8[D]"), np.array(["2020-01-01"], "M8[s]"), np.array(["2020-01-02"], "M8[D]")],
    "long": [np.longdouble(1) / 3, np.longdouble(1) / 7, 1 / 3],
    "objects in arrays": [np.array([None, "a"], object), np.array([None, "b"], object), np.array([["a"]], object)],
    "enums": [Colour.RED, Colour.BLUE, Tone.RED, 1, "RED"],
    "dataclasses": [Point(1), Point(2), Point(1, 2), Point((1, None)), fp.FlipNoise(0.1, 0.2), fp.FlipNoise(0.2, 0.1)],
    "objects": [Thing(), Thing(a=1), Thing(a=2), Thing(b=1), Slotted(1), Slotted(2), object()],
    "callables": [len, max, np.sum, np.mean, np.add, str.upper, [1].append, [2].append, "".join, Thing, Point],
    "patterns": [re.compile("a"), re.compile("b"), re.compile("a", re.I), "a"],
    "partials": [functools.partial(max), functools.partial(max, 1), functools.partial(max, key=1), max],
    "sparse": [
        sp.csr_array(np.eye(2)), sp.csr_array(np.eye(3)), sp.csr_array(np.eye(2, dtype=np.float32)),
        sp.csr_array(np.eye(2)[::-1]), sp.csr_array(2 * np.eye(2)), sp.csr_array((2, 2)), sp.coo_array([1.0, 0.0]),
        np.eye(2),
    ],
}  # fmt: skip


@pytest.mark.parametrize("values", DIFFERENT.values(), ids=DIFFERENT)
def test_different_values_have_different_fingerprints(values):
    prints = [fingerprint(value) for value in values]
    assert len(set(prints)) == len(values)
    assert prints == [fingerprint(copy.deepcopy(value)) for value in values]


PADDED = np.dtype({"names": ["a", "b"], "formats": ["u1", "f8"], "offsets": [0, 8], "itemsize": 16})


def padded(filling):
    records = np.full(3 * 16, filling, np.uint8).view(PADDED)
    records["a"], records["b"] = 1, [2, 3, 4]
    return records


def memory_mapped(tmp_path, array):
    mapped = np.memmap(tmp_path / "array", array.dtype, "w+", shape=array.shape)
    mapped[:] = array
    return mapped


def test_memory_layout_does_not_matter(tmp_path, rng):
    array = rng.integers(0, 1000, (4, 6))
    frozen = array.copy()
    frozen.setflags(write=False)
    wide = np.repeat(array, 2, axis=1)
    same = [array, np.asfortranarray(array), array.T.copy().T, wide[:, ::2], array[::-1].copy()[::-1], frozen]
    same += [array.astype(">i8"), memory_mapped(tmp_path, array)]
    assert len({fingerprint({"x": each}) for each in same}) == 1
    assert fingerprint(padded(0)) == fingerprint(padded(255))


def test_order_in_mappings_and_sets_does_not_matter():
    assert fingerprint({"a": 1, "b": [2]}) == fingerprint({"b": [2], "a": 1})
    assert fingerprint({8, 0, "x"}) == fingerprint({"x", 0, 8})
    assert fingerprint(Thing(a=1, b=2)) == fingerprint(Thing(b=2, a=1))


def test_sharing_does_not_matter():
    part = [1, 2]
    assert fingerprint([part, part, {"a": part}]) == fingerprint([[1, 2], [1, 2], {"a": [1, 2]}])


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array, sp.dok_array, sp.csr_matrix])
def test_sparse_formats_do_not_matter(make, rng):
    dense = rng.random((5, 7)) * (rng.random((5, 7)) < 0.4)
    assert fingerprint(make(dense)) == fingerprint(sp.csr_array(dense))


def test_sparse_entries_may_be_in_any_order():
    tidy = sp.csr_array(np.array([[1.0, 2.0], [0.0, 3.0]]))
    untidy = sp.csr_array(
        (np.array([2.0, 1.0, 1.0, 2.0]), np.array([1, 0, 1, 1], np.int64), np.array([0, 2, 4])), (2, 2)
    )
    assert fingerprint(untidy) == fingerprint(tidy)
    assert not untidy.has_sorted_indices


def ring(length, last):
    things = [Thing() for _ in range(length)]
    for i, thing in enumerate(things):
        thing.next = things[(i + 1) % length]
    things[-1].value = last
    return things[0]


def test_values_that_contain_themselves():
    assert fingerprint(ring(5, 1)) == fingerprint(ring(5, 1))
    assert len({fingerprint(ring(*case)) for case in [(5, 1), (5, 2), (4, 1), (1, 1)]}) == 4
    one, two = [], [[]]
    one.append(one)
    two[0].append(two)
    assert fingerprint(one) != fingerprint(two)
    assert fingerprint([one, ring(3, 1), one]) == fingerprint(copy.deepcopy([one, ring(3, 1), one]))


def test_what_a_cycle_hangs_on_is_looked_at_once():
    """Everybody knows everybody: the number of ways through is astronomical."""
    people = [Thing(name=str(i)) for i in range(40)]
    for person in people:
        person.friends = people
    start = time.perf_counter()
    before = fingerprint(people)
    people[-1].name = "other"
    assert fingerprint(people) != before
    assert time.perf_counter() - start < 2


def function(source, name="f", file="a.py", **surroundings):
    scope = {"__name__": "somewhere", "np": np, **surroundings}
    exec(compile(source, file, "exec"), scope)
    return scope[name]


def test_functions_are_what_they_do():
    base = "def f(x, y=1, *, z=2):\n    return x + y + z + 3"
    others = [
        base.replace("+ 3", "+ 4"), base.replace("+ 3", "- 3"), base.replace("y=1", "y=2"), base.replace("z=2", "z=3"),
        base.replace("x + y", "y + x"), base.replace("*, ", ""), base.replace("+ 3", "+ 3.0"),
        base.replace("+ 3", "+ np.sum(3)"), base.replace("+ 3", "+ np.prod(3)"),
        base.replace("+ 3", "+ (lambda a: a)(3)"), base.replace("+ 3", "+ (lambda a: -a)(3)"),
        base.replace("x + y", "x in {'a', 'b'}"), base.replace("x + y", "x in {'a', 'c'}"),
    ]  # fmt: skip
    assert len({fingerprint(function(source)) for source in [base, *others]}) == len(others) + 1
    assert fingerprint(function(base)) == fingerprint(function("# moved\n\n" + base, file="b.py"))


def test_functions_depend_on_the_globals_they_use():
    source = "W = [1]\ndef g(x):\n    return x * K\ndef f(x):\n    return [g(x) @ W for _ in x]\nunused = 1"
    changed = [
        source.replace("[1]", "[2]"), source.replace("x * K", "x + K"), source.replace("[g(x)", "[h(x)"),
    ]  # fmt: skip
    prints = [fingerprint(function(text, K=k)) for text in [source, *changed] for k in (1, 2)]
    assert len(set(prints)) == 7  # without g, K is not used
    assert fingerprint(function(source.replace("unused = 1", "unused = 2"), K=1)) == prints[0]
    elsewhere = function("def f(x):\n    return 1")
    elsewhere.__module__ = "elsewhere"
    by_name = function("def f(x):\n    return g(x)", g=elsewhere)
    other = function("def f(x):\n    return 2")
    other.__module__ = "elsewhere"
    assert fingerprint(by_name) != fingerprint(function("def f(x):\n    return g(x)", g=other))


def test_functions_may_call_each_other():
    source = "def f(x):\n    return g(x - 1)\ndef g(x):\n    return x and f(x)"
    assert fingerprint(function(source)) == fingerprint(function(source))
    assert fingerprint(function(source)) != fingerprint(function(source.replace("x and", "x or")))


def test_attributes_that_share_a_name_with_a_global_are_not_globals():
    with open(os.devnull) as stream:
        assert fingerprint(function("def f(x):\n    return x.data", data=stream))


def closure(value):
    return lambda x: x + value


def test_closures_and_attributes_of_functions():
    assert fingerprint(closure(1)) == fingerprint(closure(1)) != fingerprint(closure(2))
    labelled = closure(1)
    labelled.classes = 2
    assert fingerprint(labelled) != fingerprint(closure(1))
    assert fingerprint(functools.cache(closure(1))) == fingerprint(functools.cache(closure(1)))
    assert fingerprint(functools.cache(closure(1))) != fingerprint(functools.cache(closure(2)))


def test_compiled_functions():
    numba = pytest.importorskip("numba")
    assert fingerprint(numba.njit(closure(1))) == fingerprint(numba.njit(closure(1)))
    assert fingerprint(numba.njit(closure(1))) != fingerprint(numba.njit(closure(2)))


CLASS = """
class f:
    threshold = 1
    def __init__(self): self.scale = 3
    def __call__(self, x): return self.helper(x) > self.threshold
    @staticmethod
    def helper(x): return x * W
    def unused(self): return 1
W = 5
"""


def test_objects_that_are_called_are_what_they_do():
    changes = [
        ("return 1", "return 2"),
        ("> self", "< self"),
        ("= 1", "= 2"),
        ("x * W", "x / W"),
        ("W = 5", "W = 6"),
        ("= 3", "= 4"),
    ]
    others = [CLASS.replace(*change) for change in changes]
    assert len({fingerprint(function(CLASS)()) for _ in range(2)}) == 1
    assert len({fingerprint(function(source)()) for source in [CLASS, *others]}) == 7
    methods = [function(source)().__call__ for source in [CLASS, *others]]
    assert len({fingerprint(method) for method in methods}) == 7


USES = {
    "imports a function": "from mymodel import predict\nf = lambda b: predict(b)",
    "imports the module": "import mymodel\nf = lambda b: mymodel.predict(b)",
    "imports a class": "from mymodel import Model\nf = lambda b: Model.predict(b)",
    "holds an object": "from mymodel import Model\nmodel = Model()\nf = lambda b: model.scores(b)",
    "bound method": "from mymodel import Model\nf = Model().scores",
}
MODULE = """
import myhelper
def predict(b): return myhelper.scale(b) * K
class Model:
    predict = staticmethod(predict)
    def scores(self, b): return predict(b)
"""


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("file", ["mymodel.py", "myhelper.py"])
def test_functions_depend_on_the_modules_they_use(use, file, tmp_path):
    """Whatever the way to another module, a change there, or in what it imports, is another model."""
    program = f"{use}\nfrom flipproof.smoothing.fingerprint.fingerprints import fingerprint\nprint(fingerprint(f))"
    prints = []
    for factor in (2, 2, 3):
        (tmp_path / "mymodel.py").write_text(f"{MODULE}K = {factor if file == 'mymodel.py' else 2}\n")
        scale = factor if file == "myhelper.py" else 2
        (tmp_path / "myhelper.py").write_text(f"def scale(b): return b * {scale}\n")
        done = subprocess.run(
            [sys.executable, "-B", "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True
        )
        prints.append(done.stdout)
    assert prints[0] == prints[1] != prints[2]


def test_modules_are_their_names():
    assert len({fingerprint(each) for each in (np, np.linalg, sys, "numpy")}) == 4


def test_code_knows_no_place():
    code = function("def f():\n    return 1").__code__
    assert isinstance(code, CodeType)
    assert fingerprint(code) == fingerprint(code.replace(co_filename="elsewhere", co_firstlineno=99))


def test_an_own_fingerprint_is_used_with_the_class():
    lock = threading.Lock()
    assert fingerprint(Thing(fingerprint="a", lock=lock)) == fingerprint(Thing(fingerprint="a", other=1))
    other = type("Other", (Thing,), {})
    prints = {
        fingerprint(Thing(fingerprint="a")),
        fingerprint(Thing(fingerprint="b")),
        fingerprint(other(fingerprint="a")),
    }
    assert len(prints | {fingerprint("a"), fingerprint(Thing(fingerprint=1))}) == 5


def test_what_has_no_contents_is_refused():
    with open(os.devnull) as stream:
        for nothing in (stream, threading.Lock(), (i for i in ()), [Thing(lock=threading.Lock())], sys._getframe()):
            with pytest.raises(
                fp.InvalidInputError, match=r"expected something whose contents can be hashed, got [A-Za-z]+; give"
            ):
                fingerprint(nothing)


def test_what_is_nested_too_deeply_is_refused():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(fp.InvalidInputError, match="expected contents that are not nested too deeply, got list"):
        fingerprint(deep)


def test_a_copy_sent_to_another_process_is_the_same():
    values = [
        closure(3),
        function(CLASS)(),
        Point(np.arange(3)),
        DIFFERENT["arrays"],
        ring(3, 1),
        functools.partial(closure, 2),
    ]
    for value in values:
        assert fingerprint(cloudpickle.loads(cloudpickle.dumps(value))) == fingerprint(value)


PROGRAM = """
import sys, types
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from flipproof.smoothing.fingerprint.fingerprints import fingerprint

X, y = np.random.default_rng(0).integers(0, 2, (40, 6)), np.arange(40) % 3
WORDS = {"a", "b", "c", "d"}
texts = ["one two three", "two three four", "five six", "six seven"]

class Model:
    def __call__(self, batch):
        return [word in WORDS for word in batch]

forest = RandomForestClassifier(3, max_depth=3, random_state=0)
network = MLPClassifier((3,), max_iter=200, tol=1.0, random_state=0)
print([fingerprint(value) for value in (
    LogisticRegression().fit(X, y), forest.fit(X, y), network.fit(X, y),
    make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, [0, 0, 1, 1]),
    lambda x: x in {"a", "b", "c"} and X, Model(), WORDS, {word: X for word in WORDS}, types.SimpleNamespace(a=WORDS),
)], "torch" in sys.modules)
"""


def test_all_processes_agree_and_none_needs_torch():
    def output(seed):
        environment = os.environ | {"PYTHONHASHSEED": str(seed)}
        return subprocess.run(
            [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment
        ).stdout

    first = output(1)
    assert first == output(2)
    assert first.count("'") == 18
    assert first.strip().endswith("False")


def test_fitted_estimators_are_their_weights():
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier

    x, y = np.random.default_rng(0).integers(0, 2, (40, 6)), np.arange(40) % 3
    network = functools.partial(MLPClassifier, (3,), max_iter=200, tol=1.0)
    for make in (LogisticRegression, functools.partial(RandomForestClassifier, 3), network):
        fitted = make(random_state=0).fit(x, y)
        assert fingerprint(fitted) == fingerprint(make(random_state=0).fit(x, y))
        others = [make(random_state=0).fit(x, y[::-1]), make(random_state=0), make(random_state=1).fit(x, y)]
        assert fingerprint(fitted) not in [fingerprint(other) for other in others]
