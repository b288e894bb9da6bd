"""Small models with known shapes, from the ONNX package's own tests.

    node_models.py FOLDER

Writes each model into FOLDER as NAME.onnx, and index.json: for each name the
operators in it, the shapes of its tensors (outputs as really computed, inner
ones as ONNX infers them), and whether ONNX can infer the shapes of all outputs.

The models are changed in two ways.  What they say about the shapes of outputs
and inner tensors is taken out, because that is the question; and small integer
or scalar inputs, such as the shape that a Reshape is told, become initializers,
because no file could answer it without them.
"""
import json
import pathlib
import sys
import warnings

import numpy
import onnx
from onnx import numpy_helper, shape_inference
from onnx.backend.test.loader import load_node_model_tests

DATA = pathlib.Path(onnx.__file__).parent / "backend/test/data"
FOLDERS = ("simple", "pytorch-operator", "pytorch-converted")
MOST_ELEMENTS = 64


def read_tensor(path):
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(tensor)


def stored_arrays(folder, kind):
    paths = sorted(folder.glob(f"test_data_set_0/{kind}_*.pb"),
                   key=lambda path: int(path.stem.split("_")[1]))
    return [read_tensor(path) for path in paths]


def stored_models():
    """(name, model, inputs, outputs) of the models that lie in files."""
    for folder in FOLDERS:
        for path in sorted((DATA / folder).glob("*/model.onnx")):
            try:
                yield (f"{folder}-{path.parent.name}", onnx.load(path),
                       stored_arrays(path.parent, "input"),
                       stored_arrays(path.parent, "output"))
            except Exception:  # a sequence, a map: no tensor
                continue


def made_models():
    """Likewise, of the models that the package makes, one per node test."""
    for case in load_node_model_tests():
        if case.data_sets:
            yield (case.name, case.model, *case.data_sets[0])


def is_told(index, array):
    """Is this input a number or a list of numbers that shapes depend on?"""
    return (array.ndim < 2 and array.size <= MOST_ELEMENTS and
            array.dtype.kind in "iuf" and
            (index > 0 or array.ndim == 0 or array.dtype.kind in "iu"))


def as_array(value):
    """An array; None for what is no tensor."""
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return value if isinstance(value, (numpy.ndarray, numpy.generic)) else None


def pin_inputs(graph, arrays):
    """Make initializers of told inputs, give the others their real shapes."""
    inputs = list(graph.input)
    told = []
    for index, (entry, array) in enumerate(zip(inputs, arrays)):
        array = as_array(array)
        if array is None:
            continue
        array = numpy.asarray(array)
        if is_told(index, array):
            told.append(entry.name)
            graph.initializer.append(
                numpy_helper.from_array(array, entry.name))
        else:
            shape = entry.type.tensor_type.shape
            del shape.dim[:]
            shape.dim.extend(onnx.TensorShapeProto.Dimension(dim_value=size)
                             for size in array.shape)
    del graph.input[:]
    graph.input.extend(e for e in inputs if e.name not in told)


def forget_shapes(graph):
    del graph.value_info[:]
    for entry in graph.output:
        if entry.type.HasField("tensor_type"):
            entry.type.tensor_type.ClearField("shape")


def static_shape(entry):
    """The shape of a value, if all of it is known."""
    kind = entry.type.tensor_type
    if not entry.type.HasField("tensor_type") or not kind.HasField("shape"):
        return None
    sizes = [d.dim_value if d.HasField("dim_value") else None
             for d in kind.shape.dim]
    return None if None in sizes else sizes


def infer(model):
    """Static shapes by name, as ONNX infers them."""
    try:
        graph = shape_inference.infer_shapes(model, data_prop=True).graph
    except Exception:  # it refuses some of its own models
        return {}
    found = {e.name: static_shape(e) for e in
             [*graph.value_info, *graph.output]}
    return {name: shape for name, shape in found.items() if shape is not None}


def describe(model, outputs):
    inferred = infer(model)
    names = [entry.name for entry in model.graph.output]
    arrays = [as_array(value) for value in outputs]
    real = {name: list(numpy.shape(array)) for name, array in
            zip(names, arrays) if array is not None}
    return {"ops": sorted({node.op_type for node in model.graph.node}),
            "shapes": inferred | real,
            "inferable": all(name in inferred for name in names)}


def write_models(folder):
    folder.mkdir(parents=True, exist_ok=True)
    index = {}
    for name, model, inputs, outputs in [*stored_models(), *made_models()]:
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        pin_inputs(copy.graph, inputs)
        forget_shapes(copy.graph)
        (folder / f"{name}.onnx").write_bytes(copy.SerializeToString())
        index[name] = describe(copy, outputs)
    (folder / "index.json").write_text(json.dumps(index, indent=1))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    write_models(pathlib.Path(sys.argv[1]))
