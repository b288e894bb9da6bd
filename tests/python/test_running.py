"""Ctrl-C, threads, the log, memory."""
import gc
import logging
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import calm
import pytest

from conftest import ARCH, KEEP, LAYER, SMALL, hard_graph

HERE = pathlib.Path(__file__).parent


def run_interrupted(code, pauses):
    """A Python that hears Ctrl-C after each pause once it has said that it is ready."""
    child = subprocess.Popen(
        [sys.executable, "-c", "import signal\n"
         "signal.signal(signal.SIGINT, signal.default_int_handler)\n" + code],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=HERE)
    assert child.stdout.readline() == "ready\n"
    for pause in pauses:
        time.sleep(pause)
        child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=120)
    return child.returncode, out, err


HARD = """
import calm, conftest
graph = conftest.hard_graph(600)
print("ready", flush=True)
"""


def test_ctrl_c_returns_the_best_so_far():
    code, out, err = run_interrupted(HARD + """
plan = calm.plan(graph, time_limit=0)
print(plan.interrupted, plan.order_status, bool(calm.check(graph, plan)))
""", [1.0])
    assert code == 0, err
    assert out == "True feasible True\n"


def test_a_second_ctrl_c_does_not_wait():
    """Of what does not notice the first one."""
    code, out, err = run_interrupted(HARD + """
import calm._library, threading
try:
    calm._library.Context().run(threading.Event().wait)
except KeyboardInterrupt:
    print("left")
""", [0.5, 0.5])
    assert (code, out) == (0, "left\n"), err


def test_ctrl_c_ends_a_mapping_in_processes():
    code, out, err = run_interrupted("""
import calm, conftest
print("ready", flush=True)
found = calm.map([conftest.LAYER] * 3, conftest.ARCH, mapper="random", valid=10**12,
                 constraints=conftest.KEEP, jobs=2, time_limit=0)
print(found.interrupted, {layer.status for layer in found.layers} <= {"feasible", "limit"})
""", [1.0])
    assert code == 0, err
    assert out == "True True\n"


def test_other_threads_run_meanwhile():
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)
    other = threading.Thread(target=count)
    other.start()
    calm.plan(hard_graph(), time_limit=1)
    done.set()
    other.join()
    assert counted > 100


def test_several_threads_plan_at_once():
    graph = hard_graph(60)
    expected = calm.plan(graph, time_limit=0, tick_limit=50000).to_json()
    found = []

    def work():
        for _ in range(3):
            plan = calm.plan(graph, time_limit=0, tick_limit=50000)
            found.append(plan.to_json())
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 12


def test_one_result_in_several_threads():
    plan = calm.plan(hard_graph(40), tick_limit=1000)
    texts = set()
    threads = [threading.Thread(target=lambda: texts.add(plan.table(long=True)))
               for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 1


def test_the_story_goes_into_the_log(caplog):
    with caplog.at_level(logging.DEBUG, "calm"):
        calm.plan(hard_graph(), tick_limit=100000, time_limit=0)
    assert any(record.levelno == logging.INFO for record in caplog.records)
    caplog.clear()
    with caplog.at_level(logging.DEBUG, "calm"):
        calm.map(LAYER, ARCH, constraints=KEEP, valid=3)
    assert any(record.levelno == logging.WARNING and "--valid" in record.getMessage()
               for record in caplog.records)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_the_log_raises_harms_nothing():
    class Bad(logging.Handler):
        def emit(self, record):
            raise RuntimeError("no log today")
    logger = logging.getLogger("calm")
    handler = Bad()
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        plan = calm.plan(hard_graph(40), tick_limit=1000, time_limit=0)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    assert plan.arena_bytes > 0


def resident_bytes():
    words = pathlib.Path("/proc/self/statm").read_text().split()
    return int(words[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_is_given_back():
    graph = hard_graph(40)
    options = {"tick_limit": 1000, "time_limit": 0}

    def work(count):
        for _ in range(count):
            calm.plan(graph, **options).table()
            calm.map(LAYER, ARCH, constraints=KEEP, mapper="random", jobs=1).to_json()
            try:
                calm.plan(SMALL[:-30])
            except calm.Error:
                pass
        gc.collect()
    work(20)
    before = resident_bytes()
    work(60)
    assert resident_bytes() - before < 4 << 20


def test_results_outlive_what_they_came_from():
    plans = [calm.plan(SMALL) for _ in range(20)]
    gc.collect()
    cycle = [plans]
    cycle.append(cycle)
    del cycle
    for plan in plans:
        plan.me = plan  # a cycle, which the collector takes apart in any order
    del plan
    plans.clear()
    gc.collect()
    assert calm.plan(SMALL).sequence
