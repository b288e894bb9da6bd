"""Small edits of .tflite files, in place, by the official schema."""
from ai_edge_litert import schema_py_generated as schema


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
