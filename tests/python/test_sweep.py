"""Sweeps: on this machine, and on a Dask cluster one of whose workers is killed."""
import contextlib
import os
import signal
import sqlite3
import threading
import time

import calm
import pytest

from conftest import ARCH, EXAMPLES, KEEP, LAYER

SPEC = {
    "name": "buffers",
    "problems": [str(LAYER)],
    "architectures": [{
        "file": str(ARCH), "constraints": [str(KEEP)],
        "parameters": {"GlobalBuffer.entries": {"from": 8192, "to": 131072, "times": 2},
                       "InputBuffer.entries": [4096, 8192, 16384],
                       "DRAM.shared_bandwidth": [2, 4]}}],
    "objectives": ["edp", "delay"]}


def content(database):
    with contextlib.closing(sqlite3.connect(database)) as opened:
        return "\n".join(opened.iterdump())


def test_a_sweep(tmp_path):
    done = calm.sweep(SPEC, database=tmp_path / "a.db")
    assert done.counts == {"points": 60, "done": 60, "failed": 0, "left": 0}
    assert len(done.points) == 60 and len(done.designs) == 60
    assert done.front and all(design["pareto"] for design in done.front)
    assert not done.interrupted
    for ending in (".json", ".csv", ".html", ".txt"):
        done.save(tmp_path / f"sweep{ending}")
    again = calm.sweep(SPEC, database=tmp_path / "a.db")
    assert again.to_json() == done.to_json()


def test_files_dicts_and_bytes_are_the_same(tmp_path):
    path = EXAMPLES / "sweep.yaml"
    by_path = calm.sweep(path)
    assert by_path.counts["done"] == 9
    folder = os.getcwd()
    os.chdir(EXAMPLES)
    try:
        assert calm.sweep(path.read_bytes()).to_json() == by_path.to_json()
    finally:
        os.chdir(folder)
    with pytest.raises(calm.InputError, match="'architectures' is a list"):
        calm.sweep({"problems": []})


def test_points_that_fail(tmp_path):
    spec = SPEC | {"objectives": "edp", "architectures": [
        SPEC["architectures"][0] | {"parameters": {"GlobalBuffer.entries": [8192, -1]}}]}
    done = calm.sweep(spec, database=tmp_path / "a.db")
    assert (done.counts["done"], done.counts["failed"]) == (1, 1)
    assert "-1" in done.points[1]["reason"]
    assert calm.sweep(spec, database=tmp_path / "a.db", retry=True).counts["failed"] == 1


# ---- Clusters -----------------------------------------------------------------------

@pytest.fixture(scope="module")
def cluster():
    """A real scheduler, and two processes that work for it."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                  dashboard_address=None) as made:
        yield made


def test_a_cluster_comes_to_the_same_content(cluster, tmp_path):
    import calm.distributed
    calm.sweep(SPEC, database=tmp_path / "here.db")
    done = calm.distributed.sweep(SPEC, cluster.scheduler_address,
                                  database=tmp_path / "there.db")
    assert done.counts == {"points": 60, "done": 60, "failed": 0, "left": 0}
    assert content(tmp_path / "here.db") == content(tmp_path / "there.db")


def kill_a_worker(cluster, database, killed):
    """Once there are results, so that it is midway."""
    while not database.exists() or database.stat().st_size == 0:
        time.sleep(0.01)
    time.sleep(0.2)
    victim = next(iter(cluster.workers.values())).pid
    os.kill(victim, signal.SIGKILL)
    killed.append(victim)


def test_a_killed_worker_loses_nothing(cluster, tmp_path):
    import calm.distributed
    spec = SPEC | {"mappers": ["exact", "random"], "options": {"bypass": "search"}}
    calm.sweep(spec, database=tmp_path / "here.db")
    killed = []
    killer = threading.Thread(target=kill_a_worker,
                              args=(cluster, tmp_path / "there.db", killed))
    killer.start()
    done = calm.distributed.sweep(spec, cluster, database=tmp_path / "there.db")
    killer.join()
    assert killed
    assert done.counts == {"points": 120, "done": 120, "failed": 0, "left": 0}
    assert content(tmp_path / "here.db") == content(tmp_path / "there.db")


def test_what_is_there_is_not_run_again(cluster, tmp_path):
    import calm.distributed
    calm.sweep(SPEC, database=tmp_path / "a.db")
    before = content(tmp_path / "a.db")
    distributed = pytest.importorskip("distributed")
    with distributed.Client(cluster) as client:
        done = calm.distributed.sweep(SPEC, client, database=tmp_path / "a.db")
    assert done.counts["done"] == 60
    assert content(tmp_path / "a.db") == before
