"""Tiled files by the official tools: the schema's own classes and the checker
accept them, nothing dangles, and the runtimes compute every bit as before."""
import ai_edge_litert.schema_py_generated as schema
import numpy
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import runtimes
import tflite_build
import tool

MODES = ["pad", "same", "cache"]
# What TensorFlow Lite's table of operator versions asks for.
VERSIONS = {"SLICE": {"float32": 1, "int8": 2}, "PAD": {"float32": 1, "int8": 2},
            "CONCATENATION": {"float32": 1, "int8": 2}}


@pytest.fixture(autouse=True)
def needs_tiles():
    tool.need("plan", "--tile")


class Chain:
    """Layers one after the other, with random weights."""

    def __init__(self, dtype, sizes, seed):
        self.file = tflite_build.File()
        self.graph = self.file.graph()
        self.dtype, self.sizes = dtype, sizes
        self.random = numpy.random.default_rng(seed)
        self.x = self.picture(sizes, self.graph.inputs)

    def picture(self, sizes, role=None):
        scale = {"scales": 0.05, "zero_points": 3} if self.dtype == "int8" else {}
        return self.graph.tensor(f"p{len(self.graph.tensors)}", [1, *sizes],
                                 role, self.dtype, **scale)

    def constant(self, name, shape, axis, scale):
        if self.dtype != "int8":
            return self.graph.tensor(name, shape,
                                     data=self.random.standard_normal(shape))
        scales = numpy.full(shape[axis], scale)
        bias = len(shape) == 1
        high = 900 if bias else 127
        return self.graph.tensor(
            name, shape, dtype="int32" if bias else "int8", axis=axis,
            data=self.random.integers(-high, high, shape), scales=scales)

    def weights(self, shape, axis):
        number = len(self.graph.tensors)
        return [self.constant(f"w{number}", shape, axis, 0.01),
                self.constant(f"b{number}", [shape[axis]], 0, 0.0005)]

    def layer(self, code, sizes, inputs, role=None, **options):
        self.sizes = sizes
        self.x = self.picture(sizes, role)
        self.graph.op(code, inputs, [self.x], **options)

    def conv(self, channels, taps, stride=1, padding=0):
        rows, columns, depth = self.sizes
        sizes = [-(-(rows - padding * (taps - 1)) // stride),
                 -(-(columns - padding * (taps - 1)) // stride), channels]
        self.layer("CONV_2D", sizes,
                   [self.x, *self.weights([channels, taps, taps, depth], 0)],
                   padding=padding, strideH=stride, strideW=stride,
                   fusedActivationFunction=1)

    def depthwise(self, taps):
        self.layer("DEPTHWISE_CONV_2D", self.sizes,
                   [self.x, *self.weights([1, taps, taps, self.sizes[2]], 3)],
                   strideH=1, strideW=1, depthMultiplier=1)


def write_chain(path, dtype):
    """Strides, both paddings, a sum around a layer, a pooling."""
    net = Chain(dtype, [21, 11, 3], 7)
    net.conv(6, 3, stride=2)
    net.depthwise(5)
    way = net.x
    net.conv(6, 3)
    net.layer("ADD", net.sizes, [way, net.x])
    net.conv(5, 2, padding=1)
    rows, columns, depth = net.sizes
    net.layer("MAX_POOL_2D", [rows // 2, columns // 2, depth], [net.x],
              net.graph.outputs, padding=1, strideH=2, strideW=2,
              filterHeight=2, filterWidth=2)
    net.file.write(path)


def unpack(path):
    model = schema.Model.GetRootAs(path.read_bytes())
    return schema.ModelT.InitFromObj(model)


def code_name(code):
    names = {value: name for name, value in vars(schema.BuiltinOperator).items()
             if not name.startswith("_")}
    return names[max(code.builtinCode, code.deprecatedBuiltinCode)]


def assert_well_made(path, dtype):
    model = unpack(path)
    graph = model.subgraphs[0]
    named = set(graph.inputs) | set(graph.outputs)
    for entry in graph.operators:
        named |= set(entry.inputs) | set(entry.outputs)
        code = model.operatorCodes[entry.opcodeIndex]
        name = code_name(code)
        assert code.version >= VERSIONS.get(name, {}).get(dtype, 1), name
        if name in VERSIONS:
            a, b = (graph.tensors[t] for t in (entry.inputs[0],
                                               entry.outputs[0]))
            assert a.type == b.type
            if dtype == "int8":
                assert list(a.quantization.scale) == list(b.quantization.scale)
                assert list(a.quantization.zeroPoint) == list(
                    b.quantization.zeroPoint)
    assert named - {-1} == set(range(len(graph.tensors)))
    return [code_name(model.operatorCodes[entry.opcodeIndex])
            for entry in graph.operators]


@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize("mode", MODES + ["3x2"])
def test_tflite(tmp_path, dtype, mode):
    path, out = tmp_path / "net.tflite", tmp_path / "out.tflite"
    write_chain(path, dtype)
    region = f"0-5:{mode}:pad" if "x" in mode else f"0-5:3:{mode}"
    tool.write(path, out, "--tile", region)
    names = assert_well_made(out, dtype)
    assert "CONCATENATION" in names and names.count("CONV_2D") > 4
    before, after = runtimes.tflm(path), runtimes.tflm(out)
    assert "error" not in after, after["error"]
    assert after["outputs"] == before["outputs"]
    before, after = runtimes.litert("reference", path, out)
    assert "error" not in after, after["error"]
    assert after["outputs"] == before["outputs"]


def write_onnx(path, opset):
    random = numpy.random.default_rng(3)

    def weight(name, *shape):
        return numpy_helper.from_array(
            random.standard_normal(shape).astype("float32"), name)

    nodes = [helper.make_node("Conv", ["x", "w0", "b0"], ["c0"], strides=[2, 2],
                              kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["c0"], ["r0"]),
             helper.make_node("Conv", ["r0", "w1"], ["c1"], group=6,
                              kernel_shape=[3, 3], auto_pad="SAME_UPPER"),
             helper.make_node("Add", ["c1", "r0"], ["s"]),
             helper.make_node("MaxPool", ["s"], ["y"], kernel_shape=[3, 3],
                              strides=[2, 2], pads=[0, 1, 1, 0])]
    graph = helper.make_graph(
        nodes, "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 26, 17])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [weight("w0", 6, 3, 3, 3), weight("b0", 6), weight("w1", 6, 1, 3, 3)])
    model = helper.make_model(graph, opset_imports=[
        helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(onnx.shape_inference.infer_shapes(model), path)


@pytest.mark.parametrize("opset", [10, 13, 18])
@pytest.mark.parametrize("mode", ["pad", "cache"])
def test_onnx(tmp_path, opset, mode):
    path, out = tmp_path / "net.onnx", tmp_path / "out.onnx"
    write_onnx(path, opset)
    tool.write(path, out, "--tile", f"0-4:3:{mode}")
    model = onnx.load(out)
    onnx.checker.check_model(model, full_check=True)
    names = [node.op_type for node in model.graph.node]
    assert names.count("Conv") == 6 and "Slice" in names and "Concat" in names
    x = numpy.random.default_rng(5).standard_normal((1, 3, 26, 17), "float32")
    before, after = (onnxruntime.InferenceSession(
        str(file), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
                     for file in (path, out))
    assert numpy.array_equal(before, after)
