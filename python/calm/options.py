"""The options of each verb, written by python/make/options.py out of the library's table
(src/base/options.def).  Keywords have ``_`` where the command line has ``-``.
"""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, Union

File = Union[str, "os.PathLike[str]", bytes, Mapping[str, Any]]


class InspectOptions(TypedDict, total=False):
    """Of ``calm inspect``."""

    #: memory model: auto, plain, serenity, tflm, tflm-default, litert, ort (default auto)
    memory: str | int | Sequence[str | int] | None
    #: tflm: auto, reference, portable, cmsis-nn-c, -dsp, -mve, esp-nn-ansi (default auto)
    kernels: str | int | Sequence[str | int] | None
    #: tflm: outputs over dying inputs, as far as the named --kernels allow (default off)
    overlap: Literal['off', 'on'] | None
    #: tflm: parts of a concat may lie in place, a copy onto itself (default on)
    equal_memcpy: bool | None
    #: tflm: the machine whose tail is counted (default x86-64)
    target: Literal['x86-64', '32bit'] | None
    #: tflm: lines of OPERATOR BYTES..., in place of the kernels' own
    scratch: File | list[File] | None
    #: how long graph inputs stay
    inputs: Literal['until-use', 'whole-run', 'external'] | None
    #: whether graph outputs lie in the arena
    outputs: Literal['to-end', 'external'] | None
    #: offsets are multiples of this
    align: int | str | None
    #: sizes are rounded up to a multiple of this
    round: int | str | None
    #: operator kinds that may overwrite a dying input
    inplace: str | int | Sequence[str | int] | None
    #: operator kinds that share their input's bytes
    views: str | int | Sequence[str | int] | None
    #: whether readers of a concat read its operands in place
    concat: Literal['copy', 'elide'] | None
    #: whether state lies in the arena
    variables: Literal['external', 'whole-run'] | None
    #: whether all graphs share one plan, or the bodies are workspace
    subgraphs: Literal['entry', 'tflm'] | None
    #: first make a uint8 network int8, if every value stays what it is (default off)
    to_int8: bool | None
    #: first take out operators that only hand on their input (default off)
    remove_noops: bool | None
    #: a size that an .onnx file leaves open; repeatable
    dim: Mapping[str, Any] | Sequence[str] | str | None
    #: what moves between an on-chip memory of each size and the rest
    onchip: str | int | Sequence[str | int] | None
    #: what stays on chip or goes: pages of so many bytes; 0: whole tensors (default 0)
    page_size: int | str | None
    #: which compulsory traffic the totals include (default none)
    offchip: str | int | Sequence[str | int] | None
    #: report seconds, which differ from run to run (default off)
    timing: bool | None


class PlanOptions(TypedDict, total=False):
    """Of ``calm plan``."""

    #: how to find the order; exact comes with a proof (default exact)
    order: Literal['file', 'level', 'dfs', 'greedy', 'dp', 'exact'] | None
    #: how to place tensors; exact comes with a proof (default exact)
    layout: Literal['size', 'greedy', 'exact'] | None
    #: memory model: auto, plain, serenity, tflm, tflm-default, litert, ort (default auto)
    memory: str | int | Sequence[str | int] | None
    #: tflm: auto, reference, portable, cmsis-nn-c, -dsp, -mve, esp-nn-ansi (default auto)
    kernels: str | int | Sequence[str | int] | None
    #: tflm: outputs over dying inputs, as far as the named --kernels allow (default off)
    overlap: Literal['off', 'on'] | None
    #: tflm: parts of a concat may lie in place, a copy onto itself (default on)
    equal_memcpy: bool | None
    #: tflm: the machine whose tail is counted (default x86-64)
    target: Literal['x86-64', '32bit'] | None
    #: tflm: lines of OPERATOR BYTES..., in place of the kernels' own
    scratch: File | list[File] | None
    #: how long graph inputs stay
    inputs: Literal['until-use', 'whole-run', 'external'] | None
    #: whether graph outputs lie in the arena
    outputs: Literal['to-end', 'external'] | None
    #: offsets are multiples of this
    align: int | str | None
    #: sizes are rounded up to a multiple of this
    round: int | str | None
    #: operator kinds that may overwrite a dying input
    inplace: str | int | Sequence[str | int] | None
    #: operator kinds that share their input's bytes
    views: str | int | Sequence[str | int] | None
    #: whether readers of a concat read its operands in place
    concat: Literal['copy', 'elide'] | None
    #: whether state lies in the arena
    variables: Literal['external', 'whole-run'] | None
    #: whether all graphs share one plan, or the bodies are workspace
    subgraphs: Literal['entry', 'tflm'] | None
    #: first make a uint8 network int8, if every value stays what it is (default off)
    to_int8: bool | None
    #: first take out operators that only hand on their input (default off)
    remove_noops: bool | None
    #: write the offsets into a .tflite file, for TensorFlow Lite Micro (default on)
    offline_plan: bool | None
    #: leave a note in the metadata of a written .onnx file (default off)
    note: bool | None
    #: ort: the file runs as it is listed, or in ONNX Runtime's own order (default file-order)
    for_: Literal['file-order', 'ort-default'] | None
    #: which sites of the graph to rewrite so that it needs less memory (default none)
    rewrite: str | int | Sequence[str | int] | None
    #: compute regions in tiles: rows or rows x columns; pad, same or cache (default none)
    tile: str | int | Sequence[str | int] | None
    #: with --tile: first undo tiles that a model already has (default on)
    fold_tiles: bool | None
    #: with --tile auto: compute no more than this beyond the model, as 5%
    max_extra_macs: str | int | Sequence[str | int] | None
    #: max: rewriting, order, overlap and tiles together, and what each bought (default normal)
    effort: Literal['normal', 'max'] | None
    #: tflm: write 1x1 convolutions so that CMSIS-NN runs a kernel that overlaps (default off)
    rewrite_1x1: bool | None
    #: how a partial result joins the others: in the kernel, or by an addition (default auto)
    partials: Literal['auto', 'accumulate', 'add-inplace', 'add-copy'] | None
    #: on paper: element type of quantised partial sums (default same)
    accumulator: Literal['same', 'int16', 'int32'] | None
    #: rewrite concats before convolutions (default on)
    rewrite_channels: bool | None
    #: rewrite concats before operators that treat each channel by itself (default on)
    rewrite_kernels: bool | None
    #: fold multiplications and additions by constants (default on)
    rewrite_affine: bool | None
    #: add up sums of three tensors or more in any order (default on)
    rewrite_sums: bool | None
    #: take out operators that only hand on their input (default on)
    rewrite_noops: bool | None
    #: a size that an .onnx file leaves open; repeatable
    dim: Mapping[str, Any] | Sequence[str] | str | None
    #: what moves between an on-chip memory of each size and the rest
    onchip: str | int | Sequence[str | int] | None
    #: traffic needs one --onchip size; head: of tiles, without the tail (tflm) (default peak)
    minimize: Literal['peak', 'traffic', 'head'] | None
    #: what stays on chip or goes: pages of so many bytes; 0: whole tensors (default 0)
    page_size: int | str | None
    #: which compulsory traffic the totals include (default none)
    offchip: str | int | Sequence[str | int] | None
    #: exit 1 if the arena (tflm: head and tail) does not fit into this
    budget: int | str | None
    #: stop searching after this long; 0 for never (default 60)
    time_limit: float | None
    #: stop searching when this much memory is held (default 4G)
    memory_limit: int | str | None
    #: stop searching after this much work; repeats exactly
    tick_limit: int | None
    #: threads for one search; changes nothing but time; 0: one per processor (default 1)
    threads: int | None
    #: start of the pseudo-random numbers (default 1)
    seed: int | None
    #: with --order dp: count down-sets and topological orders (default off)
    count: bool | None
    #: place at most so many orders if the first does not pack; 0: only that
    joint_orders: int | None
    #: report seconds, which differ from run to run (default off)
    timing: bool | None
    #: dp: divide and conquer at cut points (default on)
    dp_cuts: bool | None
    #: dp: adaptive soft budgeting (default on)
    dp_budget: bool | None
    #: exact: leave a state only by minimal sets that free a buffer (default on)
    order_blocks: bool | None
    #: exact: take a set alone that does not raise memory (default on)
    order_commit: bool | None
    #: exact: max-flow bound before the search (default on)
    order_root_bound: bool | None
    #: exact: bound by who is the last or first of several operators (default on)
    order_groups: bool | None
    #: exact: search backwards as well (default on)
    order_reverse: bool | None
    #: exact: merge series-parallel networks by hills and valleys (default on)
    order_series: bool | None
    #: exact: search parts of the order by themselves, too (default on)
    order_windows: bool | None
    #: exact: branch in any valley of the skyline, not only the lowest (default on)
    layout_valleys: bool | None
    #: exact: remember failed states (default on)
    layout_memory: bool | None
    #: exact: solve independent parts of the time line separately (default on)
    layout_decompose: bool | None
    #: exact: prove bounds on short windows of time (default on)
    layout_windows: bool | None


class CheckOptions(TypedDict, total=False):
    """Of ``calm check``."""

    #: memory model: auto, plain, serenity, tflm, tflm-default, litert, ort (default auto)
    memory: str | int | Sequence[str | int] | None
    #: tflm: auto, reference, portable, cmsis-nn-c, -dsp, -mve, esp-nn-ansi (default auto)
    kernels: str | int | Sequence[str | int] | None
    #: tflm: outputs over dying inputs, as far as the named --kernels allow (default off)
    overlap: Literal['off', 'on'] | None
    #: tflm: parts of a concat may lie in place, a copy onto itself (default on)
    equal_memcpy: bool | None
    #: tflm: the machine whose tail is counted (default x86-64)
    target: Literal['x86-64', '32bit'] | None
    #: tflm: lines of OPERATOR BYTES..., in place of the kernels' own
    scratch: File | list[File] | None
    #: how long graph inputs stay
    inputs: Literal['until-use', 'whole-run', 'external'] | None
    #: whether graph outputs lie in the arena
    outputs: Literal['to-end', 'external'] | None
    #: offsets are multiples of this
    align: int | str | None
    #: sizes are rounded up to a multiple of this
    round: int | str | None
    #: operator kinds that may overwrite a dying input
    inplace: str | int | Sequence[str | int] | None
    #: operator kinds that share their input's bytes
    views: str | int | Sequence[str | int] | None
    #: whether readers of a concat read its operands in place
    concat: Literal['copy', 'elide'] | None
    #: whether state lies in the arena
    variables: Literal['external', 'whole-run'] | None
    #: whether all graphs share one plan, or the bodies are workspace
    subgraphs: Literal['entry', 'tflm'] | None
    #: first make a uint8 network int8, if every value stays what it is (default off)
    to_int8: bool | None
    #: first take out operators that only hand on their input (default off)
    remove_noops: bool | None
    #: a size that an .onnx file leaves open; repeatable
    dim: Mapping[str, Any] | Sequence[str] | str | None
    #: exit 1 if the arena (tflm: head and tail) does not fit into this
    budget: int | str | None


class PackOptions(TypedDict, total=False):
    """Of ``calm pack``."""

    #: how to place tensors; exact comes with a proof (default exact)
    layout: Literal['size', 'greedy', 'exact'] | None
    #: exit 1 if the arena (tflm: head and tail) does not fit into this
    budget: int | str | None
    #: stop searching after this long; 0 for never (default 60)
    time_limit: float | None
    #: stop searching when this much memory is held (default 4G)
    memory_limit: int | str | None
    #: stop searching after this much work; repeats exactly
    tick_limit: int | None
    #: threads for one search; changes nothing but time; 0: one per processor (default 1)
    threads: int | None
    #: start of the pseudo-random numbers (default 1)
    seed: int | None
    #: report seconds, which differ from run to run (default off)
    timing: bool | None
    #: exact: branch in any valley of the skyline, not only the lowest (default on)
    layout_valleys: bool | None
    #: exact: remember failed states (default on)
    layout_memory: bool | None
    #: exact: solve independent parts of the time line separately (default on)
    layout_decompose: bool | None
    #: exact: prove bounds on short windows of time (default on)
    layout_windows: bool | None


class EvalOptions(TypedDict, total=False):
    """Of ``calm eval``."""

    #: whose counts: of every iteration, or as Timeloop extrapolates them (default exact)
    cost: Literal['exact', 'timeloop'] | None
    #: which meshes hold: each level's, or products from outside in (timeloop) (default auto)
    fanout: Literal['auto', 'level', 'cumulative'] | None
    #: what a dilation of 0 in a problem file means (default literal)
    dilation_zero: Literal['literal', 'one'] | None
    #: count energy; off needs no energy of any part (default on)
    energy: bool | None
    #: energies per action, as Accelergy writes them
    ert: File | list[File] | None
    #: what a mapping has to observe; repeatable
    constraints: File | list[File] | None
    #: another value of a part of the accelerator, as Buffer.entries=4096
    set: Mapping[str, Any] | Sequence[str] | str | None
    #: words per cycle and link of a mesh: the busiest one bounds the cycles
    links: Mapping[str, Any] | Sequence[str] | str | None


class MapOptions(TypedDict, total=False):
    """Of ``calm map``."""

    #: a size that an .onnx file leaves open; repeatable
    dim: Mapping[str, Any] | Sequence[str] | str | None
    #: whose counts: of every iteration, or as Timeloop extrapolates them (default exact)
    cost: Literal['exact', 'timeloop'] | None
    #: which meshes hold: each level's, or products from outside in (timeloop) (default auto)
    fanout: Literal['auto', 'level', 'cumulative'] | None
    #: what a dilation of 0 in a problem file means (default literal)
    dilation_zero: Literal['literal', 'one'] | None
    #: count energy; off needs no energy of any part (default on)
    energy: bool | None
    #: energies per action, as Accelergy writes them
    ert: File | list[File] | None
    #: what a mapping has to observe; repeatable
    constraints: File | list[File] | None
    #: another value of a part of the accelerator, as Buffer.entries=4096
    set: Mapping[str, Any] | Sequence[str] | str | None
    #: proven optimum; CoSA's integer program; or sampling (default exact)
    mapper: Literal['exact', 'cosa', 'random', 'hybrid'] | None
    #: what to minimise; pareto: exact only, balance: cosa only (default edp)
    objective: Literal['energy', 'delay', 'edp', 'delay-energy', 'pareto', 'balance'] | None
    #: keep tensors where no constraint forbids it, or search where to (default given)
    bypass: Literal['given', 'search'] | None
    #: exact: factors that do not divide their bounds as well (default off)
    imperfect: bool | None
    #: layers that are mapped at once; 0: one per processor (default 0)
    jobs: int | None
    #: what each level has to carry at least, carries, and is bound by (default off)
    explain: bool | None
    #: cosa: as its authors' code has it, or as the paper's equations (default released)
    cosa_form: Literal['released', 'paper'] | None
    #: cosa: equal primes as one integer, or a binary for each (default aggregated)
    cosa_model: Literal['aggregated', 'literal'] | None
    #: cosa: weights as --calibrate wrote them
    cosa_weights: File | list[File] | None
    #: cosa: bounds with larger prime factors are raised; 0: none (default 7)
    pad: int | None
    #: cosa: write the integer program as MPS
    dump_model: File | list[File] | None
    #: random: best of so many valid nests (5); hybrid: stop after as many
    valid: int | None
    #: hybrid: stop after so many valid nests that are no better (default 500)
    victory: int | None
    #: random, hybrid: draw no more nests than this
    samples: int | None
    #: stop searching after this long; 0 for never (default 60)
    time_limit: float | None
    #: stop searching when this much memory is held (default 4G)
    memory_limit: int | str | None
    #: stop searching after this much work; repeats exactly
    tick_limit: int | None
    #: start of the pseudo-random numbers (default 1)
    seed: int | None
    #: report seconds, which differ from run to run (default off)
    timing: bool | None
    #: exact: drop what cannot cost less than the threshold (default on)
    mapper_bound: bool | None
    #: exact: drop what another part of a nest is at least as good as (default on)
    mapper_dominance: bool | None

