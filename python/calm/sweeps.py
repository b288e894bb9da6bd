"""Sweeps: many layers on many accelerators (docs/sweep.md)."""
from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from calm._calm import lib
from calm._library import Context, File, Options, path_bytes, text_of
from calm.results import Json, Result
from calm.verbs import Yaml, _find_highs


class Sweep(Result):
    """What came of the points of a sweep, as far as they were done when it returned."""

    verb = "sweep"
    formats = {".csv": lib.CALM_FORMAT_CSV}

    def __init__(self, board: Board) -> None:
        super().__init__(board.context, None, board.source)
        counts = lib.calm_sweep_counts_of(board.pointer)
        self._counts = {name: int(getattr(counts, name))
                        for name in ("points", "done", "failed", "left")}
        self._texts = {form: board.render(form) for form in (
            lib.CALM_FORMAT_TABLE, lib.CALM_FORMAT_JSON, lib.CALM_FORMAT_CSV)}

    def _text(self, form: int, color: bool = False) -> str:
        return self._texts[lib.CALM_FORMAT_TABLE if form == lib.CALM_FORMAT_LONG else form]

    @property
    def counts(self) -> dict[str, int]:
        """``points``, and how many of them are ``done``, ``failed``, ``left``."""
        return dict(self._counts)

    @property
    def points(self) -> list[Json]:
        """A dict each: layer, design, status, cycles, energy_pj, edp, ..."""
        return list(self._data["points"])

    @property
    def designs(self) -> list[Json]:
        """A dict each: arch, parameters, and sums over all layers times their counts."""
        return list(self._data["designs"])

    @property
    def front(self) -> list[Json]:
        """The designs that no other beats in both cycles and energy, by cycles."""
        return sorted((design for design in self.designs if design["pareto"]),
                      key=lambda design: (design["cycles"], design["id"]))

    def _figures(self) -> list[tuple[str, str]]:
        return [(name, f"{count:,}") for name, count in self.counts.items()]


class Board:
    """An open sweep: points to be taken, tasks to be solved, results to be stored."""

    def __init__(self, spec: Yaml, database: str | os.PathLike[str] | None,
                 options: dict[str, Any]) -> None:
        self.context = context = Context()
        chosen = Options(context, "sweep", options)
        file = File(context, spec, "sweep.yaml")
        place = context.words(None if database is None else path_bytes(database))
        self.source = file.name
        self.pointer = context.make(
            "calm_sweep", lib.calm_sweep_free, lambda out: lib.calm_sweep_open(
                out, context.pointer, file.encoded, place, chosen.pointer))

    def run(self) -> None:
        """All points that are left, in processes of this machine."""
        def call() -> None:
            with self.context.lock:
                self.context.check(lib.calm_sweep_run(self.pointer))
        _find_highs()
        self.context.run(call)

    def retry(self) -> None:
        """Points that failed are left again."""
        self.context.check(lib.calm_sweep_retry(self.pointer))

    def tasks(self) -> Iterator[tuple[int, str]]:
        """The points that are left, with the texts that say all about them."""
        point = lib.calm_sweep_next(self.pointer, 0)
        while point != lib.CALM_NONE:
            yield point, self.context.text(
                lambda out: lib.calm_sweep_task(out, self.pointer, point))
            point = lib.calm_sweep_next(self.pointer, point + 1)

    def store(self, point: int, result: str) -> None:
        """What ``solve`` made of a point's task."""
        self.context.check(lib.calm_sweep_store(self.pointer, point, result.encode()))

    def fail(self, point: int, why: str) -> None:
        """A point that nothing came back of."""
        self.context.check(lib.calm_sweep_fail(self.pointer, point, why.encode()))

    def render(self, form: int) -> str:
        """As a calm_format says."""
        return self.context.text(
            lambda out: lib.calm_sweep_render(out, self.pointer, form, False))

    def result(self) -> Sweep:
        """What came of it; lets go of the database."""
        result = Sweep(self)
        self.context.free_last()
        return result


def solve(task: str) -> str:
    """The result of a task, as a text; no file and no sweep is needed."""
    context = Context()
    _find_highs()
    return context.text(
        lambda out: lib.calm_sweep_solve(out, context.pointer, task.encode()))


def version() -> str:
    """The version that tasks have to be of."""
    return text_of(lib.calm_version())


def sweep(spec: Yaml, *, database: str | os.PathLike[str] | None = None, jobs: int = 0,
          retry: bool = False) -> Sweep:
    """Map every layer on every design of a sweep, in processes of this machine.

    Args:
        spec: the sweep: a file of YAML, its bytes, or a dict (then its files are relative
            to the current folder).
        database: an SQLite file in which results are kept as they come, and found by later
            runs; None: nothing is kept.
        jobs: processes; 0: one per processor.
        retry: run the points that failed once more.

    Returns:
        A ``Sweep``.  After Ctrl-C some points are left (``counts``), and the same call
        goes on with them.
    """
    board = Board(spec, database, {"jobs": jobs})
    if retry:
        board.retry()
    board.run()
    return board.result()
