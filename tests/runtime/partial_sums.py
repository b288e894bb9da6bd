"""Find the partial sums in a file that calm has rewritten.

A sum is known by the tensor that it ends in: a convolution makes that in the
original file, and here a chain of convolutions and additions does.
"""
import dataclasses

import numpy
import onnx
from ai_edge_litert import schema_py_generated as schema
from onnx import numpy_helper


@dataclasses.dataclass
class Node:
    kind: str  # conv fused add concat other
    inputs: list
    output: str
    relu: int = False  # as in nets.py


@dataclasses.dataclass
class PartialSum:
    output: str
    relu: int
    operands: list  # names
    weights: list  # O H W I


class Written:
    """Nodes by output, constants by name."""

    def __init__(self, nodes, constants):
        self.nodes = {node.output: node for node in nodes}
        self.constants = constants

    def convolutions(self, name):
        """The convolutions that add up to a tensor, first to last; None if it
        is no such sum."""
        found, waiting = [], [name]
        while waiting:
            node = self.nodes.get(waiting.pop())
            if node is None or node.kind in ("concat", "other"):
                return None
            if node.kind == "add":
                waiting += node.inputs
                continue
            found.append(node)
            if node.kind == "fused":
                waiting.append(node.inputs[3])
        return found[::-1]

    def sums(self, outputs):
        """The partial sums among tensors that convolutions have made."""
        for name in outputs:
            parts = self.convolutions(name)
            if self.nodes[name].kind != "conv" and parts:
                yield PartialSum(
                    name, self.nodes[name].relu,
                    [part.inputs[0] for part in parts],
                    [self.constants[part.inputs[1]] for part in parts])


def onnx_kind(node):
    if node.op_type == "FusedConv":
        return "fused" if len(node.input) > 3 else "conv"
    return {"Conv": "conv", "Add": "add",
            "Concat": "concat"}.get(node.op_type, "other")


def has_relu(node):
    return any(entry.name == "activation" and entry.s == b"Relu"
               for entry in node.attribute)


def read_onnx(path):
    graph = onnx.load(path).graph
    constants = {entry.name: numpy_helper.to_array(entry)
                 for entry in graph.initializer}
    nodes = [Node(onnx_kind(node), list(node.input), node.output[0],
                  has_relu(node)) for node in graph.node]
    return Written(nodes, {name: array.transpose(0, 2, 3, 1)
                           for name, array in constants.items()
                           if array.ndim == 4})


def tensor_data(model, tensor):
    data = model.buffers[tensor.buffer].data
    if data is None or tensor.type != schema.TensorType.FLOAT32:
        return None
    return numpy.frombuffer(bytes(data), "float32").reshape(tensor.shape)


ACTIVATIONS = {schema.ActivationFunctionType.NONE: False,
               schema.ActivationFunctionType.RELU: True,
               schema.ActivationFunctionType.RELU6: 6}


def read_tflite(path):
    model = schema.ModelT.InitFromPackedBuf(path.read_bytes(), 0)
    graph = model.subgraphs[0]
    names = [tensor.name.decode() for tensor in graph.tensors]
    kinds = {schema.BuiltinOperator.CONV_2D: "conv",
             schema.BuiltinOperator.ADD: "add",
             schema.BuiltinOperator.CONCATENATION: "concat"}
    nodes = []
    for operator in graph.operators:
        kind = kinds.get(model.operatorCodes[operator.opcodeIndex].builtinCode,
                         "other")
        relu = kind != "other" and ACTIVATIONS[
            operator.builtinOptions.fusedActivationFunction]
        nodes.append(Node(kind, [names[i] for i in operator.inputs],
                          names[operator.outputs[0]], relu))
    constants = {names[i]: tensor_data(model, tensor)
                 for i, tensor in enumerate(graph.tensors)}
    return Written(nodes, constants)


def tflite_names(path):
    """The name of each tensor, by index."""
    graph = schema.Model.GetRootAs(path.read_bytes()).Subgraphs(0)
    return [graph.Tensors(i).Name().decode()
            for i in range(graph.TensorsLength())]


READERS = {"onnx": read_onnx, "tflite": read_tflite}


def count(kind, path, wanted):
    """How many nodes of a kind a file has."""
    nodes = READERS[kind](path).nodes.values()
    return sum(node.kind == wanted for node in nodes)
