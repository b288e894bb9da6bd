"""Write a Net as a file: .tflite in floats or int8, .onnx in floats.

A ReLU is part of its operator in a .tflite file, and a node of its own in an
.onnx file, where Conv and Add have none.
"""
import functools
import os

import numpy
import onnx
from ai_edge_litert import schema_py_generated as schema
from onnx import helper, numpy_helper

import models
import nets
from net_values import padding
from tflite_build import File

SAME = schema.Padding.SAME
ACTIVATIONS = {False: schema.ActivationFunctionType.NONE,
               True: schema.ActivationFunctionType.RELU,
               6: schema.ActivationFunctionType.RELU6}
# Of every activation, as if a ReLU were before it.
INT8_SCALE, INT8_ZERO_POINT = 1 / 32, -128


def quantized_weights(layer):
    """int8 per output channel, and the bias in the scale of the products."""
    axis = 3 if layer.kind == "depthwise" else 0
    others = tuple(i for i in range(layer.weight.ndim) if i != axis)
    scales = numpy.abs(layer.weight).max(others, keepdims=True) / 127
    weight = numpy.round(layer.weight / scales).astype(numpy.int8)
    bias_scales = scales.ravel() * numpy.float32(INT8_SCALE)
    bias = numpy.round(layer.bias / bias_scales).astype(numpy.int32)
    return weight, scales.ravel(), axis, bias, bias_scales


class TfliteWriter:
    def __init__(self, net, int8):
        self.net, self.int8 = net, int8
        self.file = File()
        self.main = self.file.graph()
        self.index = {}
        self.activation("x", self.main.inputs)

    def shape(self, name):
        return [1, *self.net.shapes[name]]

    def channels(self, name):
        return self.net.shapes[name][-1]

    def activation(self, name, role=None):
        shape, facts = self.shape(name), {}
        if self.int8:
            facts = {"dtype": "int8", "scales": [INT8_SCALE],
                     "zero_points": INT8_ZERO_POINT}
        self.index[name] = self.main.tensor(name, shape, role, **facts)

    def constants(self, layer):
        """The tensors of weights and bias."""
        add, name = self.main.tensor, layer.output
        if not self.int8:
            return [add(f"{name}/w", layer.weight.shape, data=layer.weight),
                    add(f"{name}/b", layer.bias.shape, data=layer.bias)]
        weight, scales, axis, bias, bias_scales = quantized_weights(layer)
        return [add(f"{name}/w", weight.shape, None, "int8", weight, scales,
                    axis=axis),
                add(f"{name}/b", bias.shape, None, "int32", bias, bias_scales)]

    def layer(self, layer):
        final = layer.output == self.net.output
        self.activation(layer.output, self.main.outputs if final else None)
        getattr(self, layer.kind)(layer, [self.index[x] for x in layer.inputs],
                                  [self.index[layer.output]])

    def conv(self, layer, inputs, outputs):
        self.main.op("CONV_2D", inputs + self.constants(layer), outputs,
                     **self.window(layer), **self.dilation(layer))

    def depthwise(self, layer, inputs, outputs):
        self.main.op("DEPTHWISE_CONV_2D", inputs + self.constants(layer),
                     outputs, **self.window(layer), **self.dilation(layer),
                     depthMultiplier=self.channels(layer.output) //
                     self.channels(layer.inputs[0]))

    def max_pool(self, layer, inputs, outputs):
        self.main.op("MAX_POOL_2D", inputs, outputs, **self.window(layer),
                     filterHeight=layer.kernel[0], filterWidth=layer.kernel[1])

    def average_pool(self, layer, inputs, outputs):
        self.main.op("AVERAGE_POOL_2D", inputs, outputs, **self.window(layer),
                     filterHeight=layer.kernel[0], filterWidth=layer.kernel[1])

    def add(self, layer, inputs, outputs):
        self.main.op("ADD", inputs, outputs,
                     fusedActivationFunction=ACTIVATIONS[layer.relu])

    def concat(self, layer, inputs, outputs):
        self.main.op("CONCATENATION", inputs, outputs, axis=3)

    def mean(self, layer, inputs, outputs):
        axes = self.main.tensor(f"{layer.output}/axes", [2], None, "int32",
                                [1, 2])
        self.main.op("MEAN", inputs + [axes], outputs, keepDims=False)

    def dense(self, layer, inputs, outputs):
        self.main.op("FULLY_CONNECTED", inputs + self.constants(layer),
                     outputs)

    @staticmethod
    def window(layer):
        return {"padding": SAME, "strideH": layer.stride,
                "strideW": layer.stride,
                "fusedActivationFunction": ACTIVATIONS[layer.relu]}

    @staticmethod
    def dilation(layer):
        return {"dilationHFactor": layer.dilation,
                "dilationWFactor": layer.dilation}


def write_tflite(net, path, int8=False):
    writer = TfliteWriter(net, int8)
    for layer in net.layers:
        writer.layer(layer)
    return writer.file.write(path)


class OnnxWriter:
    def __init__(self, net):
        self.net, self.nodes, self.weights = net, [], []

    def shape(self, name):
        *picture, channels = self.net.shapes[name]
        return [1, channels, *picture]

    def constants(self, layer):
        arrays = [layer.weight, layer.bias]
        if layer.kind == "conv":
            arrays[0] = layer.weight.transpose(0, 3, 1, 2)
        if layer.kind == "depthwise":
            arrays[0] = layer.weight.transpose(3, 0, 1, 2)
        names = [f"{layer.output}/w", f"{layer.output}/b"]
        self.weights += [
            numpy_helper.from_array(numpy.ascontiguousarray(array), name)
            for array, name in zip(arrays, names)]
        return names

    def node(self, kind, inputs, layer, **attributes):
        name = f"{layer.output}/linear" if layer.relu else layer.output
        self.nodes.append(helper.make_node(kind, inputs, [name], name,
                                           **attributes))
        if layer.relu == 6:
            bounds = [f"{layer.output}/zero", f"{layer.output}/six"]
            self.weights += [numpy_helper.from_array(numpy.float32(value), name)
                             for value, name in zip((0, 6), bounds)]
            self.nodes.append(helper.make_node(
                "Clip", [name, *bounds], [layer.output], layer.output))
        elif layer.relu:
            self.nodes.append(helper.make_node("Relu", [name], [layer.output],
                                               layer.output))

    def window(self, layer):
        sizes = self.net.shapes[layer.inputs[0]][:2]
        before, behind = zip(*[
            padding(size, kernel, layer.stride, layer.dilation)
            for size, kernel in zip(sizes, layer.kernel)])
        return {"kernel_shape": layer.kernel, "pads": [*before, *behind],
                "strides": [layer.stride] * 2}

    def conv(self, layer):
        groups = 1
        if layer.kind == "depthwise":
            groups = self.net.shapes[layer.inputs[0]][2]
        self.node("Conv", layer.inputs + self.constants(layer), layer,
                  group=groups, dilations=[layer.dilation] * 2,
                  **self.window(layer))

    depthwise = conv

    def max_pool(self, layer):
        self.node("MaxPool", layer.inputs, layer, **self.window(layer))

    def average_pool(self, layer):
        self.node("AveragePool", layer.inputs, layer, **self.window(layer))

    def add(self, layer):
        self.node("Add", layer.inputs, layer)

    def concat(self, layer):
        self.node("Concat", layer.inputs, layer, axis=1)

    def mean(self, layer):
        name = f"{layer.output}/picture"
        self.nodes.append(helper.make_node("GlobalAveragePool", layer.inputs,
                                           [name], name))
        self.node("Flatten", [name], layer)

    def dense(self, layer):
        self.node("Gemm", layer.inputs + self.constants(layer), layer,
                  transB=1)


def value(name, shape):
    return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)


def write_onnx(net, path):
    writer = OnnxWriter(net)
    for layer in net.layers:
        getattr(writer, layer.kind)(layer)
    graph = helper.make_graph(
        writer.nodes, net.name, [value("x", writer.shape("x"))],
        [value(net.output, writer.shape(net.output))], writer.weights)
    model = helper.make_model(graph, ir_version=8,
                              opset_imports=[helper.make_opsetid("", 13)])
    onnx.checker.check_model(model, full_check=True)
    path.write_bytes(model.SerializeToString())
    return path


FOLDER = models.WORK / "nets"


@functools.cache
def path_of(name, kind):
    """The path of a network as a file; kind: tflite, onnx, int8.tflite."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.{kind}"
    part = FOLDER / f"{path.name}.{os.getpid()}"
    if kind == "onnx":
        write_onnx(nets.build(name), part)
    else:
        write_tflite(nets.build(name), part, kind == "int8.tflite")
    return part.rename(path)
