"""Forks while another thread solves, compiles, imports or deletes kernels: the child computes what the parent does."""

from __future__ import annotations

import gc
import importlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import casadi as ca
import numpy as np
import pytest

import jourdain as jd
from jourdain.compute import forks
from jourdain.compute.forks import COMPILING

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork"),
    pytest.mark.filterwarnings(
        "ignore:.*fork:DeprecationWarning"
    ),  # that threads and forks do not mix is what is tried
    pytest.mark.usefixtures("own_cache"),
]


def forked(work: Callable[[], object], limit: float = 120) -> bool:
    """Whether a child does it, within `limit` seconds and without an error."""
    child = os.fork()
    if not child:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.005)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return False


@contextmanager
def meanwhile(work: Callable[[int], object]) -> Iterator[None]:
    """A thread that does it again and again."""
    over = threading.Event()

    def again() -> None:
        k = 0
        while not over.is_set():
            work(k := k + 1)

    thread = threading.Thread(target=again)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def event(k: float) -> jd.Event:
    """Of a mechanism that nothing was compiled for if k is new."""
    q, v = ca.SX.sym("q", 2), ca.SX.sym("v", 2)
    M = ca.diag(ca.vertcat(2 + ca.cos(k * q[0]), 1.5 + 0.1 * ca.sin(q[1])))
    mechanism = jd.Mechanism.from_casadi(q, v, M)
    return mechanism.event(inert=[mechanism.constraint("row", v[0] + k * ca.cos(q[1]) * v[1])])


ONE, MANY = np.array([1.0, 2.0]), np.ones((2000, 2))


def test_thirty_forks_while_a_thread_solves_and_compiles(rng):
    shared = event(0.5)
    wanted = shared.solve(v=ONE).v_plus, shared.solve(v=MANY).v_plus

    def solve(k: int) -> None:
        for one in (shared, event(k)):
            one.solve(v=ONE)
            one.solve(v=MANY)

    def child() -> None:
        np.testing.assert_array_equal(shared.solve(v=ONE).v_plus, wanted[0])
        np.testing.assert_array_equal(shared.solve(v=MANY).v_plus, wanted[1])
        solve(-1)

    with meanwhile(solve):
        for _ in range(30):
            time.sleep(rng.uniform(0, 0.03))
            assert forked(child)


def test_forks_while_a_thread_deletes_kernels(rng):
    def make_and_delete(k: int) -> None:
        event(k % 3).solve(v=MANY)
        gc.collect()

    with meanwhile(make_and_delete):
        for _ in range(5):
            time.sleep(rng.uniform(0, 0.03))
            assert forked(lambda: event(-2).solve(v=MANY))


def test_forks_while_a_thread_sorts_a_graph_of_casadi(rng):
    """CasADi has one lock for the nodes of all graphs, and lets other threads run while it holds it."""
    x = ca.SX.sym("x")
    y = x
    for _ in range(100_000):
        y = ca.sin(y)

    with meanwhile(lambda _: ca.Function("f", [x], [y])):
        for _ in range(10):
            time.sleep(rng.uniform(0, 0.03))
            assert forked(lambda: ca.symvar(x + 1), limit=10)


def test_a_fork_waits_for_what_is_being_compiled():
    started, done = threading.Event(), []

    def compile_slowly() -> None:
        with COMPILING:
            started.set()
            time.sleep(0.3)
            done.append(True)

    thread = threading.Thread(target=compile_slowly)
    thread.start()
    started.wait()
    assert forked(lambda: done[0] and event(-3).solve(v=MANY))
    thread.join()


def test_a_fork_within_what_is_compiled():
    with COMPILING:
        assert forked(lambda: event(-4).solve(v=MANY))


@pytest.fixture
def importing(tmp_path, monkeypatch):
    """Begins to import a module in another thread and returns when the import is under way."""
    (tmp_path / "slow_to_import.py").write_text("import time\nbefore = 1\ntime.sleep(0.3)\nafter = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    threads: list[threading.Thread] = []

    def begin() -> None:
        if threads:
            return
        threads.append(threading.Thread(target=lambda: importlib.import_module("slow_to_import")))
        threads[0].start()
        while not hasattr(sys.modules.get("slow_to_import"), "before"):
            time.sleep(0.001)

    yield begin
    threads[0].join()
    del sys.modules["slow_to_import"]


def test_a_child_sees_no_half_imported_module(importing):
    importing()
    assert forked(lambda: importlib.import_module("slow_to_import").after)


def test_an_import_that_begins_while_a_fork_waits(importing, monkeypatch):
    def import_and_hold(hold: Callable[[], None] = forks._hold) -> None:
        importing()
        hold()

    monkeypatch.setattr(forks, "_hold", import_and_hold)
    assert forked(lambda: importlib.import_module("slow_to_import").after, limit=10)


def test_forks_from_two_threads():
    with meanwhile(lambda k: forked(lambda: event(k).solve(v=ONE))):
        for _ in range(5):
            assert forked(lambda: event(-5).solve(v=MANY))
