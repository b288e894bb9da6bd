"""What the verbs return: views of what the command line prints with ``--json``.

Every result has ``to_json()`` (the same bytes as the command line), ``to_dict()``,
``table()``, ``save(path)``, ``report()``, a one-line ``repr``, and a view in notebooks.
Sizes are bytes, times cycles of the accelerator, energies picojoules.
"""
from __future__ import annotations

import html
import json
import os
from collections import abc
from typing import Any, ClassVar

from calm._calm import ffi, lib
from calm._library import Context, path_bytes, text_of
from calm.page import Page, page

Json = dict[str, Any]


def _bytes(count: Any) -> str:
    """301056 as ``301,056 B (294 KiB)``."""
    if not isinstance(count, int):
        return "-"
    short = f" ({count / 1024:,.0f} KiB)" if count >= 1024 else ""
    return f"{count:,} B{short}"


class Result:
    """A finished result.  It owns its memory, and may be used from any thread."""

    verb: ClassVar[str]
    # What else save() can write, by the ending of the file: a calm_format.
    formats: ClassVar[abc.Mapping[str, int]] = {}
    _render: ClassVar[abc.Callable[..., int]]

    def __init__(self, context: Context, pointer: Any, source: str) -> None:
        self._context, self._pointer, self.source = context, pointer, source
        self._json: str | None = None
        #: Did Ctrl-C end the search?  The result is then the best so far.
        self.interrupted = context.interrupted

    def _text(self, form: int, color: bool = False) -> str:
        render = type(self)._render
        return self._context.text(lambda out: render(out, self._pointer, form, color))

    def to_json(self) -> str:
        """The JSON object that the command line prints with ``--json`` (docs/json.md)."""
        if self._json is None:
            self._json = self._text(lib.CALM_FORMAT_JSON)
        return self._json

    def to_dict(self) -> Json:
        """The same as a dict, which is the caller's."""
        data: Json = json.loads(self.to_json())
        return data

    @property
    def _data(self) -> Json:
        return self.to_dict()

    def table(self, *, long: bool = False, color: bool = False) -> str:
        """The table that the command line prints; ``long`` has every step and tensor."""
        form = lib.CALM_FORMAT_LONG if long else lib.CALM_FORMAT_TABLE
        return self._text(form, color)

    def report(self, path: str | os.PathLike[str] | None = None, *,
               title: str | None = None) -> Page:
        """A page to look at, one file of HTML, written to ``path`` if there is one."""
        made = page([(self.source, self.to_json())], title)
        if path is not None:
            made.save(path)
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file, of the kind that its ending says: ``.json``, ``.html``, ``.txt``
        (the table), and those in ``formats``.  The old file is there until the new one is
        complete."""
        ending = os.path.splitext(os.fspath(path))[1]
        if ending == ".html":
            self.report(path)
        elif ending == ".json":
            self._write(path, self.to_json())
        elif ending == ".txt":
            self._write(path, self.table())
        elif ending in self.formats:
            self._write(path, self._text(self.formats[ending]))
        else:
            known = ", ".join((".json", ".html", ".txt", *self.formats, *self._other_endings()))
            raise ValueError(f"{os.fspath(path)!r}: the ending says what is written; of a "
                             f"{type(self).__name__} there are {known}")

    def _other_endings(self) -> abc.Sequence[str]:
        return ()

    def _write(self, path: str | os.PathLike[str], words: str) -> None:
        with self._context.lock:
            self._context.check(lib.calm_text_write(
                self._context.pointer, path_bytes(path), words.encode()))

    def _figures(self) -> list[tuple[str, str]]:
        """What a repr and a notebook show."""
        raise NotImplementedError

    def __repr__(self) -> str:
        figures = ", ".join(f"{name} {value}" for name, value in self._figures())
        return f"<calm.{type(self).__name__} of {self.source}: {figures}>"

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
                       f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
                       for name, value in self._figures())
        return (f"<table><caption>{html.escape(f'{self.verb} of {self.source}')}</caption>"
                f"{rows}</table><details><summary>table</summary>"
                f"<pre>{html.escape(self.table())}</pre></details>")


class Plan(Result):
    """An order of the operators and an arena, each with its proof or gap."""

    verb = "plan"
    formats = {".csv": lib.CALM_FORMAT_CSV, ".h": lib.CALM_FORMAT_C_HEADER,
               ".hpp": lib.CALM_FORMAT_BUFFERPLAN, ".svg": lib.CALM_FORMAT_FRONT}
    _render = lib.calm_plan_render

    @property
    def _summary(self) -> Any:
        return lib.calm_plan_summary_of(self._pointer)

    @property
    def peak_bytes(self) -> int:
        """Most live bytes at a step of the chosen order, under the memory model."""
        return int(self._summary.peak_bytes)

    @property
    def peak_bound_bytes(self) -> int:
        """No order is below this; equal to ``peak_bytes`` where that is proved optimal."""
        return int(self._summary.peak_bound_bytes)

    @property
    def arena_bytes(self) -> int:
        """What has to be reserved for the chosen placement."""
        return int(self._summary.arena_bytes)

    @property
    def arena_bound_bytes(self) -> int:
        """No arena is below this."""
        return int(self._summary.arena_bound_bytes)

    @property
    def baseline_peak_bytes(self) -> int:
        """Of the order of the file."""
        return int(self._summary.baseline_peak_bytes)

    @property
    def baseline_arena_bytes(self) -> int:
        """Of the order of the file, placed by the runtime's own rule."""
        return int(self._summary.baseline_arena_bytes)

    @property
    def order_status(self) -> str:
        """``"optimal"``, ``"feasible"``, ``"infeasible"`` or ``"limit"``."""
        return text_of(lib.calm_outcome_name(self._summary.order_outcome))

    @property
    def layout_status(self) -> str:
        """The same of the arena."""
        return text_of(lib.calm_outcome_name(self._summary.layout_outcome))

    @property
    def within_budget(self) -> bool:
        """True if no ``budget`` was given, or it is kept."""
        return bool(self._summary.within_budget)

    @property
    def sequence(self) -> list[str]:
        """Names of the operators in the order in which they run; shape (operators,)."""
        model = lib.calm_plan_model(self._pointer)
        return [text_of(lib.calm_model_op_name(model, lib.calm_plan_op_at(self._pointer, step)))
                for step in range(lib.calm_model_op_count(model))]

    @property
    def offsets(self) -> dict[str, int]:
        """Bytes from the begin of the arena, by tensor; views of others included."""
        model = lib.calm_plan_model(self._pointer)
        places = ((text_of(lib.calm_model_tensor_name(model, tensor)),
                   lib.calm_plan_offset(self._pointer, tensor))
                  for tensor in range(lib.calm_model_tensor_count(model)))
        return {name: offset for name, offset in places if offset != 2**64 - 1}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model in the planned order (``.tflite``, ``.onnx``, ``.cg``: the format
        it was read from; the file is read back and compared before it replaces anything),
        or what ``Result.save`` writes; ``.csv`` is the buffers, ``.h`` constants for C,
        ``.hpp`` TensorFlow Lite Micro's BufferPlan, ``.svg`` the front of tilings."""
        ending = os.path.splitext(os.fspath(path))[1]
        if ending not in self._other_endings():
            return super().save(path)
        form = text_of(lib.calm_model_format(lib.calm_plan_model(self._pointer)))
        if ending != "." + ("cg" if form == "built" else form):
            raise ValueError(f"{os.fspath(path)!r}: the output has the format of the input, "
                             f"which is .{form}")
        with self._context.lock:
            self._context.check(lib.calm_plan_write(self._pointer, path_bytes(path)))

    def _other_endings(self) -> abc.Sequence[str]:
        return (".tflite", ".onnx", ".cg")

    def _figures(self) -> list[tuple[str, str]]:
        return [("arena", f"{_bytes(self.arena_bytes)}, {self.layout_status}"),
                ("arena before", _bytes(self.baseline_arena_bytes)),
                ("peak", f"{_bytes(self.peak_bytes)}, {self.order_status}"),
                ("peak before", _bytes(self.baseline_peak_bytes))]


class Inspection(Result):
    """What is in a model, and what its memory does step by step in file order."""

    verb = "inspect"
    _render = lib.calm_inspection_render

    @property
    def _summary(self) -> Any:
        return lib.calm_inspection_summary_of(self._pointer)

    @property
    def op_count(self) -> int:
        """Operators of the first graph."""
        return int(self._summary.op_count)

    @property
    def tensor_count(self) -> int:
        """Tensors of the first graph."""
        return int(self._summary.tensor_count)

    @property
    def peak_bytes(self) -> int:
        """Most live bytes at a step."""
        return int(self._summary.peak_bytes)

    @property
    def floor_bytes(self) -> int:
        """Working set of one operator: no order is below."""
        return int(self._summary.floor_bytes)

    def _figures(self) -> list[tuple[str, str]]:
        return [("operators", f"{self.op_count:,}"), ("tensors", f"{self.tensor_count:,}"),
                ("peak", _bytes(self.peak_bytes)), ("floor", _bytes(self.floor_bytes)),
                ("weights", _bytes(int(self._summary.weight_bytes)))]


class Verdict(Result):
    """What is wrong with a plan; true if nothing is."""

    verb = "check"
    _render = lib.calm_verdict_render

    @property
    def valid(self) -> bool:
        """No fault was found, also where a model carries no plan."""
        return bool(lib.calm_verdict_valid(self._pointer))

    def __bool__(self) -> bool:
        return self.valid

    @property
    def faults(self) -> list[Json]:
        """``kind``, ``tensors`` and ``text`` of each."""
        return list(self._data["faults"])

    @property
    def warnings(self) -> list[Any]:
        """What is odd, but no fault."""
        return list(self._data["warnings"])

    def _figures(self) -> list[tuple[str, str]]:
        return [("plan", "valid" if self.valid else "not valid"),
                ("faults", str(len(self.faults))), ("warnings", str(len(self.warnings)))]


class Packing(Result):
    """Buffers of known lifetimes placed in an arena."""

    verb = "pack"
    formats = {".csv": lib.CALM_FORMAT_CSV}
    _render = lib.calm_packing_render

    @property
    def _summary(self) -> Any:
        return lib.calm_packing_summary_of(self._pointer)

    @property
    def status(self) -> str:
        """``"optimal"``, ``"feasible"``, ``"infeasible"`` or ``"limit"``."""
        return text_of(lib.calm_outcome_name(self._summary.outcome))

    @property
    def arena_bytes(self) -> int:
        """What has to be reserved."""
        return int(self._summary.arena_bytes)

    @property
    def bound_bytes(self) -> int:
        """No arena is below this."""
        return int(self._summary.arena_bound_bytes)

    @property
    def within_budget(self) -> bool:
        """True if no ``budget`` was given, or it is kept."""
        return bool(lib.calm_packing_within_budget(self._pointer))

    def _figures(self) -> list[tuple[str, str]]:
        return [("arena", f"{_bytes(self.arena_bytes)}, {self.status}"),
                ("bound", _bytes(self.bound_bytes))]


class Evaluation(Result):
    """What one loop nest, or two, cost on an accelerator."""

    verb = "eval"
    formats = {".yaml": lib.CALM_FORMAT_MAPPING}
    _render = lib.calm_evaluation_render

    def _summary(self, nest: int = 0) -> Any:
        return lib.calm_evaluation_summary_of(self._pointer, nest)

    @property
    def valid(self) -> bool:
        """Does each nest fit the machine and its constraints?"""
        return bool(lib.calm_evaluation_valid(self._pointer))

    @property
    def reason(self) -> str | None:
        """Why the first nest is not valid; None if it is."""
        reason = lib.calm_evaluation_reason(self._pointer, 0)
        return text_of(reason) if reason != ffi.NULL else None

    @property
    def computes(self) -> int:
        """Multiply-accumulate operations, of the first nest as all below."""
        return int(self._summary().computes)

    @property
    def cycles(self) -> int:
        """Cycles of the accelerator; 0 where it is not valid, as all below."""
        return int(self._summary().cycles)

    @property
    def energy_pj(self) -> float:
        """Picojoules."""
        return float(self._summary().energy_pj)

    @property
    def edp(self) -> float:
        """Picojoules times cycles."""
        return float(self._summary().edp)

    @property
    def utilization(self) -> float:
        """Of the multipliers over all cycles, 0 to 1."""
        return float(self._summary().utilization)

    def _figures(self) -> list[tuple[str, str]]:
        if not self.valid:
            return [("not valid", self.reason or "the second nest")]
        return [("cycles", f"{self.cycles:,}"), ("energy", f"{self.energy_pj / 1e6:,.3f} uJ"),
                ("utilization", f"{self.utilization:.1%}")]


class Layer:
    """What came of one layer of a ``Mapping``."""

    def __init__(self, mapping: Mapping, index: int, data: Json) -> None:
        self._mapping, self._index, self._data = mapping, index, data

    @property
    def name(self) -> str:
        """As in the model, or of the problem file."""
        return str(self._data["name"])

    @property
    def count(self) -> int:
        """How often the network has it."""
        return int(self._data["count"])

    @property
    def status(self) -> str:
        """``"optimal"``, ``"feasible"``, ``"infeasible"``, ``"limit"`` or ``"failed"``."""
        return str(self._data["status"])

    @property
    def reason(self) -> str | None:
        """Why there is no nest, or no proof."""
        reason = self._data["reason"]
        return None if reason is None else str(reason)

    @property
    def cycles(self) -> int | None:
        """Of one such layer; None without a nest, as all below."""
        return self._data.get("cycles")

    @property
    def energy_pj(self) -> float | None:
        """Picojoules of one such layer."""
        return self._data.get("energy_pj")

    @property
    def edp(self) -> float | None:
        """Picojoules times cycles."""
        return self._data.get("edp")

    @property
    def nest(self) -> str:
        """The loop nest as Timeloop reads it."""
        mapping = self._mapping
        return mapping._context.text(
            lambda out: lib.calm_mapping_nest(out, mapping._pointer, self._index))

    @property
    def problem(self) -> str:
        """The layer as a problem file."""
        mapping = self._mapping
        return mapping._context.text(
            lambda out: lib.calm_mapping_problem(out, mapping._pointer, self._index))

    def to_dict(self) -> Json:
        """Its part of the mapping's ``to_dict()``."""
        return self._data

    def __repr__(self) -> str:
        return f"<calm.Layer {self.name}: {self.status}, cycles {self.cycles}>"


class Mapping(Result):
    """Loop nests for layers on an accelerator; equal layers are one, with their count."""

    verb = "map"
    formats = {".csv": lib.CALM_FORMAT_CSV, ".yaml": lib.CALM_FORMAT_MAPPING}
    _render = lib.calm_mapping_render

    @property
    def layers(self) -> list[Layer]:
        """Each with its outcome, figures and nest."""
        return [Layer(self, index, data) for index, data in enumerate(self._data["layers"])]

    @property
    def total_cycles(self) -> int:
        """Of all layers that have a nest, times their counts."""
        return int(self._data["total"]["cycles"])

    @property
    def total_energy_pj(self) -> float | None:
        """The same of energies."""
        energy = self._data["total"]["energy_pj"]
        return None if energy is None else float(energy)

    def _figures(self) -> list[tuple[str, str]]:
        layers = self.layers
        proved = sum(layer.status == "optimal" for layer in layers)
        energy = self.total_energy_pj
        return [("layers", f"{len(layers)}, {proved} optimal"),
                ("cycles", f"{self.total_cycles:,}"),
                ("energy", "-" if energy is None else f"{energy / 1e6:,.3f} uJ")]

