"""Build small .tflite models by the official schema: for what the public cases
lack, such as subgraphs that call each other.

    file = File()
    main = file.graph()
    x = main.tensor("x", [1, 4], main.inputs)
    main.op("ADD", [x, x], [main.tensor("y", [1, 4], main.outputs)])
    file.write(path)
"""
import flatbuffers
import numpy
from ai_edge_litert import schema_py_generated as schema

TYPES = {"float32": schema.TensorType.FLOAT32, "bool": schema.TensorType.BOOL,
         "int8": schema.TensorType.INT8, "int32": schema.TensorType.INT32,
         "resource": schema.TensorType.RESOURCE}
ALIGNMENT = 16  # of constants, as the schema demands


class Buffer(schema.BufferT):
    """The generated class does not align what it writes."""

    def Pack(self, builder):
        if self.data is None:
            return super().Pack(builder)
        builder.StartVector(1, len(self.data), ALIGNMENT)
        builder.head -= len(self.data)
        builder.Bytes[builder.head:builder.head + len(self.data)] = self.data
        data = builder.EndVector()
        schema.BufferStart(builder)
        schema.BufferAddData(builder, data)
        return schema.BufferEnd(builder)


def quantization(scales, zero_points, axis):
    entry = schema.QuantizationParametersT()
    entry.scale = numpy.atleast_1d(numpy.float32(scales))
    entry.zeroPoint = numpy.atleast_1d(numpy.int64(zero_points))
    entry.quantizedDimension = axis
    return entry


class Graph:
    """One subgraph; tensors are known by their index."""

    def __init__(self, file, index):
        self.file, self.index = file, index
        self.tensors, self.operators = [], []
        self.inputs, self.outputs = [], []

    def tensor(self, name, shape, role=None, dtype="float32", data=None,
               scales=None, zero_points=0, axis=0):
        """Add a tensor; role is this graph's `inputs` or `outputs`."""
        entry = schema.TensorT()
        entry.name, entry.shape = name.encode(), list(shape)
        entry.type = TYPES[dtype]
        entry.buffer = self.file.buffer(data, dtype)
        if scales is not None:
            zero_points = numpy.broadcast_to(zero_points, numpy.shape(scales))
            entry.quantization = quantization(scales, zero_points, axis)
        self.tensors.append(entry)
        if role is not None:
            role.append(len(self.tensors) - 1)
        return len(self.tensors) - 1

    def op(self, code, inputs, outputs, **options):
        """Add an operator; options are fields of its options table."""
        entry = schema.OperatorT()
        entry.opcodeIndex = self.file.opcode(code)
        entry.inputs, entry.outputs = list(inputs), list(outputs)
        name = options_table(code)
        if name:
            entry.builtinOptionsType = getattr(schema.BuiltinOptions, name)
            entry.builtinOptions = getattr(schema, name + "T")()
            for key, value in options.items():
                setattr(entry.builtinOptions, key, value)
        self.operators.append(entry)

    def table(self):
        entry = schema.SubGraphT()
        entry.name = f"graph{self.index}".encode()
        entry.tensors, entry.operators = self.tensors, self.operators
        entry.inputs, entry.outputs = self.inputs, self.outputs
        return entry


# Names of the options tables that do not follow from the operator's.
TABLES = {"AVERAGE_POOL_2D": "Pool2DOptions", "MAX_POOL_2D": "Pool2DOptions",
          "L2_POOL_2D": "Pool2DOptions", "MEAN": "ReducerOptions",
          "SUM": "ReducerOptions", "REDUCE_MAX": "ReducerOptions",
          "REDUCE_MIN": "ReducerOptions", "REDUCE_ALL": "ReducerOptions",
          "L2_NORMALIZATION": "L2NormOptions", "PADV2": "PadV2Options",
          "BATCH_MATMUL": "BatchMatMulOptions"}


def options_table(code):
    """ADD has AddOptions, SPLIT_V has SplitVOptions, TANH has none."""
    words = "".join(word.capitalize() for word in code.split("_"))
    name = TABLES.get(code, words.replace("2d", "2D").replace(
        "Nd", "ND") + "Options")
    return name if hasattr(schema.BuiltinOptions, name) else None


class File:
    def __init__(self):
        self.graphs, self.codes = [], []
        self.buffers = [schema.BufferT()]  # the first is empty by custom

    def graph(self):
        self.graphs.append(Graph(self, len(self.graphs)))
        return self.graphs[-1]

    def buffer(self, data, dtype):
        entry = Buffer()
        if data is not None:
            entry.data = numpy.asarray(data, dtype).tobytes()
        self.buffers.append(entry)
        return len(self.buffers) - 1

    def opcode(self, name):
        if name not in self.codes:
            self.codes.append(name)
        return self.codes.index(name)

    def opcode_table(self, name):
        entry = schema.OperatorCodeT()
        entry.builtinCode = getattr(schema.BuiltinOperator, name)
        entry.deprecatedBuiltinCode = min(entry.builtinCode, 127)
        entry.version = 1
        return entry

    def plan(self, offsets):
        """The offline plan of all tensors as an entry of the metadata."""
        entry = schema.MetadataT()
        entry.name = b"OfflineMemoryAllocation"
        entry.buffer = len(self.buffers)
        words = Buffer()
        words.data = numpy.array([1, 0, len(offsets), *offsets],
                                 "int32").tobytes()
        return entry, words

    def write_bytes(self, offsets=None):
        """The file's bytes; `offsets` of its tensors, -1 where the runtime is
        to choose."""
        model = schema.ModelT()
        model.version, model.description = 3, b"test"
        model.operatorCodes = [self.opcode_table(name) for name in self.codes]
        model.subgraphs = [graph.table() for graph in self.graphs]
        model.buffers = self.buffers
        if offsets is not None:
            entry, words = self.plan(offsets)
            model.metadata = [entry]
            model.buffers = [*self.buffers, words]
        builder = flatbuffers.Builder(4096)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())

    def write(self, path):
        path.write_bytes(self.write_bytes())
        return path
