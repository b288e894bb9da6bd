"""Small edits of .tflite files, most of them in place, by the official
schema."""
import flatbuffers
from ai_edge_litert import schema_py_generated as schema

from tflite_build import Buffer


def replace_output(data, tensor):
    """The file with another tensor as the first output of its main graph."""
    data = bytearray(data)
    graph = schema.Model.GetRootAs(data).Subgraphs(0)
    graph.OutputsAsNumpy()[0] = tensor
    return bytes(data)


def last_picture(data):
    """The last activation of the main graph with rows and columns."""
    graph = schema.Model.GetRootAs(data).Subgraphs(0)
    for index in reversed(range(graph.OperatorsLength())):
        tensor = graph.Operators(index).Outputs(0)
        shape = graph.Tensors(tensor).ShapeAsNumpy()
        if len(shape) == 4 and min(shape[1:3]) > 1:
            return tensor
    raise ValueError("a graph without pictures")


def disable_plan(data):
    """The file with its offline plan under a name that no runtime knows."""
    name = b"OfflineMemoryAllocation"
    return data.replace(name, b"-" * len(name))


PROBED = {schema.BuiltinOperator.CONV_2D,
          schema.BuiltinOperator.DEPTHWISE_CONV_2D, schema.BuiltinOperator.ADD}


def find_probe(model):
    """The last picture that a convolution or an addition makes."""
    graph, found = model.subgraphs[0], None
    for op in graph.operators:
        code = model.operatorCodes[op.opcodeIndex]
        kind = max(code.builtinCode, code.deprecatedBuiltinCode)
        if kind in PROBED and len(graph.tensors[op.outputs[0]].shape) == 4:
            found = int(op.outputs[0])
    return found


def probe(data):
    """The file with an inner picture as one more output: the classes that come
    out at the end are the same for many a wrong picture."""
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(data))
    graph, found = model.subgraphs[0], find_probe(model)
    assert found is not None
    if found not in list(graph.outputs):
        graph.outputs = [*map(int, graph.outputs), found]
    model.buffers = [aligned(buffer) for buffer in model.buffers]
    builder = flatbuffers.Builder(len(data))
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def aligned(buffer):
    entry = Buffer()
    entry.data = None if buffer.data is None else bytes(buffer.data)
    return entry
