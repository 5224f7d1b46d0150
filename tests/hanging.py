"""How long a test may wait for other processes; its fixture is on in the files that import it."""

import signal

import pytest

HANGS = 120  # seconds; only a test that has failed ever gets there


@pytest.fixture(autouse=True)
def no_test_waits_forever():
    def give_up(*_):
        raise TimeoutError("the test hangs")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(HANGS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
