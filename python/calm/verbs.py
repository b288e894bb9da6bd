"""The verbs, one call each; docs/python.md has examples."""
from __future__ import annotations

import glob
import importlib.util
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from calm._calm import ffi, lib
from calm._library import Context, File, Options, path_bytes
from calm import results
from calm.page import Page, page

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from calm.options import (CheckOptions, EvalOptions, InspectOptions, MapOptions,
                              PackOptions, PlanOptions)

#: A path, the content of the file, or a model as a protobuf (``onnx.ModelProto``).
Model = Union[str, "os.PathLike[str]", bytes, Any]
#: A path, the content of the file, or an object of YAML as a dict.
Yaml = Union[str, "os.PathLike[str]", bytes, Mapping[str, Any]]


def _open(context: Context, model: Model, name: str | None,
          options: Options) -> tuple[Any, str]:
    file = File(context, model, name or "model")
    pointer = context.make(
        "calm_model", lib.calm_model_free, lambda out: lib.calm_model_open(
            out, context.pointer, file.encoded, options.pointer))
    return pointer, file.name


def plan(model: Model, *, name: str | None = None,
         **options: Unpack[PlanOptions]) -> results.Plan:
    """Find an order of the operators and an arena that need the least memory.

    Args:
        model: a ``.tflite``, ``.onnx`` or ``.cg`` file: its path, its bytes, or an
            ``onnx.ModelProto``.
        name: what stands for the file's name where ``model`` is none.
        options: those of ``calm plan``, with ``_`` for ``-``: ``rewrite="auto"``,
            ``budget="256K"``, ``dim={"batch": 1}``, ``time_limit=5`` (seconds).

    Returns:
        A ``Plan`` (bytes), with a proof, or with a bound where a limit or Ctrl-C ended
        the search.

    Raises:
        calm.Error: one of its kinds, all derived from Python's own exceptions.
        TypeError: an option that ``calm plan`` has not.
    """
    context = Context()
    chosen = Options(context, "plan", options)
    opened, source = _open(context, model, name, chosen)
    made = context.run(lambda: context.make(
        "calm_plan", lib.calm_plan_free,
        lambda out: lib.calm_plan_make(out, opened, chosen.pointer)))
    return results.Plan(context, made, source)


def inspect(model: Model, *, name: str | None = None,
            **options: Unpack[InspectOptions]) -> results.Inspection:
    """What is in a model, and what its memory does step by step in the file's order.

    ``model`` and ``name`` as of ``calm.plan``; ``options`` are those of ``calm inspect``.
    """
    context = Context()
    chosen = Options(context, "inspect", options)
    opened, source = _open(context, model, name, chosen)
    made = context.run(lambda: context.make(
        "calm_inspection", lib.calm_inspection_free,
        lambda out: lib.calm_inspect(out, opened, chosen.pointer)))
    return results.Inspection(context, made, source)


def check(model: Model, plan: results.Plan | Yaml | None = None, *,
          name: str | None = None,
          **options: Unpack[CheckOptions]) -> results.Verdict:
    """Verify a plan against a model, by code that knows nothing of the planner.

    Args:
        model: as of ``calm.plan``.
        plan: a ``Plan``, its JSON as a file or a dict, or None: the plan that the model
            itself carries.
        options: those of ``calm check``.

    Returns:
        A ``Verdict``, which is true where no fault was found.
    """
    context = Context()
    chosen = Options(context, "check", options)
    opened, source = _open(context, model, name, chosen)
    path = ffi.NULL
    if plan is not None:
        given = plan.to_json().encode() if isinstance(plan, results.Plan) else plan
        path = context.words(File(context, given, "plan.json").encoded)
    made = context.run(lambda: context.make(
        "calm_verdict", lib.calm_verdict_free,
        lambda out: lib.calm_check(out, opened, path, chosen.pointer)))
    return results.Verdict(context, made, source)


def _csv(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Rows as CSV, with the columns of the first."""
    columns = list(rows[0]) if rows else ["id", "lower", "upper", "size"]
    lines = [",".join(columns)]
    for row in rows:
        if list(row) != columns:
            raise ValueError(f"all buffers have the same columns, here {', '.join(columns)}")
        cells = ["" if row[column] is None else str(row[column]) for column in columns]
        if any(set(cell) & set(",\"\r\n") for cell in cells):
            raise ValueError("a cell holds a comma, a quote or the end of a line")
        lines.append(",".join(cells))
    return ("\n".join(lines) + "\n").encode()


def pack(buffers: str | os.PathLike[str] | bytes | Sequence[Mapping[str, Any]], *,
         name: str | None = None, **options: Unpack[PackOptions]) -> results.Packing:
    """Place buffers of known lifetimes in the least arena.

    Args:
        buffers: a CSV file, as a path or its bytes, or its rows: dicts with ``id``,
            ``lower`` and ``upper`` (steps, the upper excluded), ``size`` (bytes), and
            optionally ``offset`` (fixed), ``alignment`` (bytes), ``group``.
        options: those of ``calm pack``.
    """
    context = Context()
    chosen = Options(context, "pack", options)
    content: Any = buffers
    if isinstance(buffers, Sequence) and not isinstance(buffers, (str, bytes)):
        content = _csv(buffers)
    file = File(context, content, name or "buffers.csv")
    made = context.run(lambda: context.make(
        "calm_packing", lib.calm_packing_free, lambda out: lib.calm_pack(
            out, context.pointer, file.encoded, chosen.pointer)))
    return results.Packing(context, made, file.name)


# ---- Accelerators -------------------------------------------------------------------

def _files(context: Context, given: Yaml | Sequence[Yaml] | None, name: str) -> list[File]:
    """One file, several, or none, each under a name of its own."""
    if given is None:
        return []
    if isinstance(given, (str, bytes, os.PathLike, Mapping)):
        return [File(context, given, f"{name}.yaml")]
    return [File(context, item, f"{name}{at}.yaml") for at, item in enumerate(given)]


def evaluate(arch: Yaml | Sequence[Yaml], problem: Yaml | None = None,
             mapping: Yaml | Sequence[Yaml] | None = None,
             **options: Unpack[EvalOptions]) -> results.Evaluation:
    """What a loop nest costs on an accelerator: accesses, cycles, picojoules.

    Args:
        arch: the accelerator in Timeloop's YAML, in one or several files.
        problem: the layer; None: the section ``problem`` of ``arch``.
        mapping: the loop nest, or two to be compared; None: the section ``mapping``.
        options: those of ``calm eval``: ``cost="timeloop"``, ``set={"PE.instances": 16}``.
    """
    context = Context()
    chosen = Options(context, "eval", options)
    machine = _files(context, arch, "arch")
    layer = _files(context, problem, "problem")
    nests = _files(context, mapping, "mapping")
    files = ffi.new("calm_evaluation_files *", {
        "arch": context.array(machine), "arch_count": len(machine),
        "problem": context.words(layer[0].encoded if layer else None),
        "mappings": context.array(nests), "mapping_count": len(nests)})
    made = context.run(lambda: context.make(
        "calm_evaluation", lib.calm_evaluation_free, lambda out: lib.calm_evaluate(
            out, context.pointer, files, chosen.pointer)))
    return results.Evaluation(context, made, machine[0].name)


def _find_highs() -> None:
    """The solver of the mapper ``cosa``, where it is a package of this Python."""
    found = importlib.util.find_spec("highsbox")
    if "CALM_HIGHS" in os.environ or found is None or not found.origin:
        return
    library = os.path.join(os.path.dirname(found.origin), "highs_dist", "lib*", "libhighs.so*")
    for path in sorted(glob.glob(library))[:1]:
        os.environ["CALM_HIGHS"] = path


def _is_layer(given: Any) -> bool:
    """Is it YAML, and no model?"""
    if isinstance(given, (str, os.PathLike)):
        return os.fspath(given).endswith((".yaml", ".yml"))
    return isinstance(given, Mapping) or (
        isinstance(given, Sequence) and not isinstance(given, bytes))


def map(layer_or_model: Yaml | Model | Sequence[Yaml] | None, arch: Yaml | Sequence[Yaml],
        *, name: str | None = None, journal: str | os.PathLike[str] | None = None,
        **options: Unpack[MapOptions]) -> results.Mapping:
    """Find loop nests of least energy, delay, or their product, for layers.

    Args:
        layer_or_model: a layer as Timeloop's YAML (a path ending in ``.yaml``, or a dict),
            a list of them, or a model as of ``calm.plan``, of which every layer is mapped;
            None: the section ``problem`` of ``arch``.
        arch: the accelerator in Timeloop's YAML, in one or several files.
        journal: a file that keeps each layer as it is done; a second run goes on there.
        options: those of ``calm map``: ``objective="energy"``, ``constraints=[...]``,
            ``bypass="search"``, ``jobs=2`` (processes), ``time_limit=5`` (seconds).

    Returns:
        A ``Mapping``; a layer that failed, or that has no nest, is part of it.
    """
    context = Context()
    chosen = Options(context, "map", options)
    if options.get("mapper") == "cosa":
        _find_highs()
    machine = _files(context, arch, "arch")
    layers: list[File] = []
    model: File | None = None
    if _is_layer(layer_or_model):
        layers = _files(context, layer_or_model, name or "layer")
    elif layer_or_model is not None:
        model = File(context, layer_or_model, name or "model")
    files = ffi.new("calm_map_files *", {
        "arch": context.array(machine), "arch_count": len(machine),
        "problems": context.array(layers), "problem_count": len(layers),
        "model": context.words(model.encoded if model else None),
        "journal": context.words(None if journal is None else path_bytes(journal))})
    made = context.run(lambda: context.make(
        "calm_mapping", lib.calm_mapping_free, lambda out: lib.calm_map(
            out, context.pointer, files, chosen.pointer)))
    source = model or (layers or machine)[0]
    return results.Mapping(context, made, source.name)


# ---- Pages --------------------------------------------------------------------------

def report(*documents: results.Result | str | os.PathLike[str],
           title: str | None = None) -> Page:
    """A page to look at, of one result or of several beside each other.

    Args:
        documents: results, or files that hold their JSON.
        title: what stands above it.

    Returns:
        A ``Page``, to be saved, or shown in a notebook.
    """
    given: list[tuple[str, str]] = []
    for item in documents:
        if isinstance(item, results.Result):
            given.append((item.source, item.to_json()))
        else:
            with open(item, encoding="utf-8") as file:
                given.append((os.fspath(item), file.read()))
    return page(given, title)
