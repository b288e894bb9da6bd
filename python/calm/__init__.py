"""calm: least memory for neural networks, best loop nests for accelerators, with proof.

    >>> import calm
    >>> plan = calm.plan("net.tflite")
    >>> plan.arena_bytes, plan.layout_status
    (301056, 'optimal')
    >>> plan.save("planned.tflite")

A search tells its story to the logger ``calm`` and lets other threads run; Ctrl-C stops it,
and the best so far is returned.
"""
from calm._calm import lib as _lib
from calm._library import text_of as _text_of
from calm.errors import (Error, FileError, InputError, InternalError, OutOfMemory,
                         UnsupportedError, UsageError)
from calm.page import Page
from calm.results import (Evaluation, Inspection, Layer, Mapping, Packing, Plan, Result,
                          Verdict)
from calm.sweeps import Sweep, sweep
from calm.verbs import check, evaluate, inspect, map, pack, plan, report

__version__ = _text_of(_lib.calm_version())

__all__ = [
    "Error", "Evaluation", "FileError", "InputError", "Inspection", "InternalError", "Layer",
    "Mapping", "OutOfMemory", "Packing", "Page", "Plan", "Result", "Sweep",
    "UnsupportedError", "UsageError", "Verdict", "check", "evaluate", "inspect", "map", "pack",
    "plan", "report", "sweep",
]
