"""Where the tests find networks: the public cases, packages, and their own."""
import os
import pathlib

import numpy
import onnx
from onnx import numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = pathlib.Path(os.environ.get("CALM_CASES", ROOT / "../shared/cases"))
WORK = ROOT / "build/runtime-models"
LIGHT = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"


def tflite_cases():
    """All .tflite files of the public cases; none if these are not there."""
    return sorted((CASES / "models").glob("*.tflite"))


def onnx_packages():
    """The .onnx files that scripts/runtime-models has fetched."""
    return sorted(path for folder in ("ocr", "blazeface", "silero")
                  for path in (WORK / folder).glob("*.onnx"))


def light_models():
    """Nine classic networks; nodes stand where their weights should be."""
    return sorted(LIGHT.glob("*.onnx"))


def random_weight(shape, random):
    """Numbers that neither vanish nor explode behind twenty layers."""
    if len(shape) < 2:
        return random.uniform(0.5, 1.5, shape).astype(numpy.float32)
    scale = 1 / numpy.sqrt(max(1, numpy.prod(shape[1:])))
    return random.standard_normal(shape, numpy.float32) * numpy.float32(scale)


def drop_unused(graph):
    """Remove initializers and inputs that no node reads."""
    used = {name for node in graph.node for name in node.input}
    for entries in (graph.initializer, graph.input):
        kept = [entry for entry in entries if entry.name in used]
        del entries[:]
        entries.extend(kept)


def fix_weights(graph):
    """Take weights from the inputs, among which they could be replaced by the
    caller; shapes stay."""
    weights = {tensor.name for tensor in graph.initializer
               if tensor.data_type == onnx.TensorProto.FLOAT}
    inputs = [entry for entry in graph.input if entry.name not in weights]
    del graph.input[:]
    graph.input.extend(inputs)


def fold_constant_of_shape(model):
    """Turn each ConstantOfShape node into an initializer of random weights.

    With such nodes in the file a runtime makes the weights in its arena.
    """
    graph, random = model.graph, numpy.random.default_rng(1)
    shapes = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    kept = []
    for node in graph.node:
        if node.op_type != "ConstantOfShape":
            kept.append(node)
            continue
        weight = random_weight(shapes[node.input[0]], random)
        graph.initializer.append(numpy_helper.from_array(weight,
                                                         node.output[0]))
    del graph.node[:]
    graph.node.extend(kept)
    drop_unused(graph)
    model.ir_version = 8  # the first ones want every initializer as an input
    fix_weights(graph)
    return model


def folded_light(path):
    """The path of a light model with weights, made when it is first needed."""
    folder = WORK / "light"
    folder.mkdir(parents=True, exist_ok=True)
    folded = folder / path.name
    if not folded.exists():
        model = fold_constant_of_shape(onnx.load(path))
        part = folder / f"{path.name}.{os.getpid()}"
        part.write_bytes(model.SerializeToString())
        part.rename(folded)
    return folded
