"""Sweeps on a Dask cluster: the points of ``calm.sweep`` on many machines.

    >>> import calm.distributed
    >>> calm.distributed.sweep("designs.yaml", "tcp://scheduler:8786",
    ...                        database="designs.db")

Points go out as texts that say all there is to know, so that workers need this package and
no files.  This process alone writes the database: each result once, as it comes.  A worker
that goes down loses nothing, as its points go to others; a point that takes one worker
after the other down is a point that failed.  The content is that of a run on one machine.

Needs the package ``distributed`` (``pip install calm[distributed]``).
"""
from __future__ import annotations

import importlib
import logging
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from calm.errors import Error
from calm.sweeps import Board, Sweep, solve
from calm.verbs import Yaml

distributed: Any = importlib.import_module("distributed")  # its types are partial
logger = logging.getLogger("calm")

#: Points under way for each thread of a worker, so that none waits for the next.
AHEAD = 4


@contextmanager
def _client(cluster: Any) -> Iterator[Any]:
    """The client that was given, or one of our own for an address or a cluster."""
    if isinstance(cluster, distributed.Client):
        yield cluster
        return
    with distributed.Client(cluster) as client:
        yield client


class _Run:
    """Points that are under way, and those that come next."""

    def __init__(self, board: Board, client: Any, ahead: int) -> None:
        self.board, self.client, self.ahead = board, client, ahead
        self.tasks = board.tasks()
        self.points: dict[Any, int] = {}
        self.name = uuid.uuid4().hex
        self.finished = distributed.as_completed(loop=client.loop)

    def room(self) -> int:
        """How many more may be under way; workers may join and leave meanwhile."""
        threads: int = sum(self.client.nthreads().values())
        return max(1, threads) * self.ahead - len(self.points)

    def submit(self) -> None:
        """As many of those that come next as there is room for."""
        for _ in range(self.room()):
            point, task = next(self.tasks, (None, ""))
            if point is None:
                return
            future = self.client.submit(solve, task, pure=False,
                                        key=f"calm-sweep-{self.name}-{point}")
            self.points[future] = point
            self.finished.add(future)

    def take(self, future: Any) -> None:
        """What came of a point."""
        point = self.points.pop(future)
        error = future.exception()
        if error is None:
            self.board.store(point, future.result())
        elif isinstance(error, distributed.KilledWorker):
            self.board.fail(point, "each worker that took it went down")
        elif isinstance(error, Error):
            raise error
        else:
            self.board.fail(point, f"{type(error).__name__}: {error}")
        logger.info("point %d is done, %d are under way", point + 1, len(self.points))

    def all(self) -> None:
        """Until nothing is left, or Ctrl-C: then what is under way stays undone."""
        if not self.client.nthreads():
            logger.warning("the cluster has no workers yet; points wait for the first")
        try:
            self.submit()
            while self.points:
                self.take(next(self.finished))
                self.submit()
        except KeyboardInterrupt:
            self.board.context.interrupted = True
        finally:
            self.client.cancel(list(self.points))


def sweep(spec: Yaml, cluster: Any, *, database: str | os.PathLike[str] | None = None,
          retry: bool = False, ahead: int = AHEAD) -> Sweep:
    """Map every layer on every design of a sweep on a Dask cluster.

    Args:
        spec: as of ``calm.sweep``.
        cluster: the address of a scheduler (``"tcp://host:8786"``), a Dask cluster, or a
            ``distributed.Client``.
        database: as of ``calm.sweep``; on the machine that calls.
        retry: run the points that failed once more.
        ahead: points under way for each thread of a worker.

    Returns:
        A ``Sweep``.  After Ctrl-C some points are left, and the same call goes on with
        them.

    Raises:
        calm.UnsupportedError: a worker has another version of calm.
    """
    board = Board(spec, database, {})
    if retry:
        board.retry()
    with _client(cluster) as client:
        _Run(board, client, ahead).all()
    return board.result()
