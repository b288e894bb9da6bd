"""Models of one operator, at random, in which the output lies over an input:

    model = Single("CONV_2D", "int8", numpy.random.default_rng(7))
    model.place(0, 16)  # the bytes of its file, the output 16 bytes below
"""
import numpy
from ai_edge_litert import schema_py_generated as schema

from tflite_build import File

PADDINGS = {True: schema.Padding.SAME, False: schema.Padding.VALID}
INPUT = {"int8": {"scales": [1 / 32], "zero_points": 3}, "float32": {}}
# Scale and zero point that a kind has no choice about.
FIXED = {"LOGISTIC": (1 / 256, -128), "SOFTMAX": (1 / 256, -128),
         "TANH": (1 / 128, 0)}
WINDOWS = ("CONV_2D", "DEPTHWISE_CONV_2D", "MAX_POOL_2D", "AVERAGE_POOL_2D")
UNARY = ("LOGISTIC", "TANH", "SOFTMAX", "QUANTIZE", "RELU", "RELU6",
         "LEAKY_RELU", "HARD_SWISH")
BINARY = ("ADD", "MUL", "SUB", "MAXIMUM", "MINIMUM")
# By a constant that is broadcast over the picture.
CONSTANT = ("MUL by a constant", "SUB of a constant", "SUB from a constant")
FLOAT_UNARY = ("ABS", "NEG", "EXP", "LOG", "SIN", "COS", "SQRT", "RSQRT",
               "SQUARE", "FLOOR", "CEIL", "ROUND", "ELU")
FLOAT_BINARY = ("DIV", "SQUARED_DIFFERENCE", "FLOOR_DIV", "FLOOR_MOD")
# Their distance is 0 where less would do.
CUT_OFF = WINDOWS + ("FULLY_CONNECTED",)


def kinds(dtype):
    """The kinds that are known in a type."""
    both = WINDOWS + ("FULLY_CONNECTED", "PAD", "SLICE") + UNARY + BINARY + \
        CONSTANT
    return both + (FLOAT_UNARY + FLOAT_BINARY if dtype == "float32" else ())


class Single:
    """A file with the operator that `kind` names, of shapes at random."""

    def __init__(self, kind, dtype, random):
        self.kind, self.dtype, self.random = kind, dtype, random
        self.file = File()
        self.main = self.file.graph()
        self.offsets = []
        getattr(self, self.maker())()

    def maker(self):
        for names, maker in ((WINDOWS, "window"),
                             (UNARY + FLOAT_UNARY, "unary"),
                             (BINARY + FLOAT_BINARY, "binary"),
                             (CONSTANT, "by_constant")):
            if self.kind in names:
                return maker
        return self.kind.lower()

    def pick(self, *values):
        return int(self.random.choice(values))

    def shape(self, channels=9):
        return [1, self.pick(*range(1, 9)), self.pick(*range(1, 9)),
                self.pick(*range(1, channels))]

    def activation(self, shape, role, dtype=None, spread=None):
        dtype = dtype or self.dtype
        facts = dict(INPUT[dtype])
        if dtype == "int8" and spread is not None:
            scale, zero = FIXED.get(self.kind, (spread, -5))
            facts = {"scales": [scale], "zero_points": zero}
        index = self.main.tensor(f"t{len(self.main.tensors)}", shape, role,
                                 dtype, **facts)
        self.offsets.append(0)
        return index

    def constant(self, values, dtype, **facts):
        index = self.main.tensor(f"t{len(self.main.tensors)}", values.shape,
                                 None, dtype, values, **facts)
        self.offsets.append(-1)
        return index

    def weights(self, shape, axis, fan):
        """Weights and bias, and the scale that spreads the output: a product
        of numbers at random has the deviation 5476."""
        outputs = shape[axis]
        if self.dtype == "float32":
            weight = self.random.standard_normal(shape)
            return [self.constant(weight, "float32"),
                    self.constant(numpy.zeros(outputs), "float32")], None
        weight = self.random.integers(-127, 128, shape)
        scale = 1 / 512
        product = INPUT["int8"]["scales"][0] * scale
        tensors = [
            self.constant(weight, "int8", scales=[scale] * outputs, axis=axis),
            self.constant(numpy.zeros(outputs), "int32",
                          scales=[product] * outputs)]
        return tensors, product * 5476 * fan ** 0.5 / 50

    def io(self, x, y, spread=None, dtype=None):
        inputs = self.activation(x, self.main.inputs)
        return inputs, self.activation(y, self.main.outputs, dtype, spread)

    def window(self):
        x = self.shape()
        taps = [self.pick(1, 2, 3, 4, 5), self.pick(1, 2, 3, 4, 5)]
        stride, same = self.pick(1, 1, 2), bool(self.pick(0, 1))
        dilation = self.pick(1, 1, 2) if "CONV" in self.kind else 1
        spans = [(tap - 1) * dilation + 1 for tap in taps]
        if not same:
            x[1:3] = [max(size, span) for size, span in zip(x[1:3], spans)]
        sizes = [-(-size // stride) if same else (size - span) // stride + 1
                 for size, span in zip(x[1:3], spans)]
        options = {"padding": PADDINGS[same], "strideH": stride,
                   "strideW": stride}
        if "POOL" in self.kind:
            tensors = self.io(x, [1, *sizes, x[3]],
                              INPUT["int8"]["scales"][0])
            if self.dtype == "int8":  # pools do not change the scale
                entry = self.main.tensors
                entry[tensors[1]].quantization = entry[
                    tensors[0]].quantization
            self.main.op(self.kind, tensors[:1], tensors[1:], **options,
                         filterHeight=taps[0], filterWidth=taps[1])
            return
        self.convolution(x, sizes, taps, dilation, options)

    def convolution(self, x, sizes, taps, dilation, options):
        if self.kind == "CONV_2D":
            outputs, axis = self.pick(*range(1, 10)), 0
            filters, fan = [outputs, *taps, x[3]], taps[0] * taps[1] * x[3]
        else:
            options["depthMultiplier"] = self.pick(1, 1, 2, 3, 4)
            outputs, axis = x[3] * options["depthMultiplier"], 3
            filters, fan = [1, *taps, outputs], taps[0] * taps[1]
        constants, spread = self.weights(filters, axis, fan)
        source, result = self.io(x, [1, *sizes, outputs], spread)
        self.main.op(self.kind, [source, *constants], [result], **options,
                     dilationHFactor=dilation, dilationWFactor=dilation)

    def fully_connected(self):
        rows, inputs, outputs = (self.pick(*range(1, top))
                                 for top in (4, 12, 12))
        constants, spread = self.weights([outputs, inputs], 0, inputs)
        if self.dtype == "int8":  # one scale for all
            for index in constants:
                entry = self.main.tensors[index].quantization
                entry.scale, entry.zeroPoint = entry.scale[:1], \
                    entry.zeroPoint[:1]
        source, result = self.io([rows, inputs], [rows, outputs], spread)
        self.main.op(self.kind, [source, *constants], [result])

    def pad(self):
        x = self.shape()
        pads = numpy.array([[0, 0], *[[self.pick(0, 1, 2), self.pick(0, 1, 2)]
                                      for _ in range(2)], [0, 0]])
        y = [size + sum(pad) for size, pad in zip(x, pads)]
        tensors = [self.activation(x, self.main.inputs),
                   self.constant(pads, "int32"),
                   self.activation(y, self.main.outputs)]
        self.main.op(self.kind, tensors[:2], tensors[2:])

    def slice(self):
        y = [1, *[self.pick(1, 2, 3, 4) for _ in range(2)],
             self.pick(2, 3, 4)]
        begin = [0, *[self.pick(0, 1, 2) for _ in range(3)]]
        x = [size + first + self.pick(0, 1) for size, first in zip(y, begin)]
        x[0] = 1
        tensors = [self.activation(x, self.main.inputs),
                   self.constant(numpy.array(begin), "int32"),
                   self.constant(numpy.array(y), "int32"),
                   self.activation(y, self.main.outputs)]
        self.main.op(self.kind, tensors[:3], tensors[3:])

    def unary(self):
        shape = self.shape()
        if self.kind == "SOFTMAX":
            shape[3] += 1
        # Nothing but an int8 comes out of a quantization.
        tensors = self.io(shape, shape, 1 / 20, "int8" if self.kind ==
                          "QUANTIZE" else None)
        options = {"LEAKY_RELU": {"alpha": 0.1}, "SOFTMAX": {"beta": 1.0}}
        self.main.op(self.kind, tensors[:1], tensors[1:],
                     **options.get(self.kind, {}))

    def binary(self):
        shape = self.shape()
        same = self.kind in ("MAXIMUM", "MINIMUM")
        tensors = [self.activation(shape, self.main.inputs) for _ in range(2)]
        spread = {"MUL": 1 / 8}.get(self.kind, 1 / 16)
        tensors.append(self.activation(shape, self.main.outputs,
                                       spread=None if same else spread))
        self.main.op(self.kind, tensors[:2], tensors[2:])

    def by_constant(self):
        shape = self.shape()
        sizes = [1, 1, 1, self.pick(1, shape[3])]
        facts = {"scales": [1 / 64], "zero_points": 2}
        values = self.random.integers(20, 100, sizes)
        if self.dtype == "float32":
            facts, values = {}, values / 32
        constant = self.constant(values, self.dtype, **facts)
        source, result = self.io(shape, shape, 1 / 16)
        operands = [source, constant]
        if "from" in self.kind:
            operands.reverse()
        self.main.op(self.kind[:3], operands, [result])

    def bytes_of(self, index):
        entry = self.main.tensors[index]
        width = 4 if entry.type == schema.TensorType.FLOAT32 else 1
        return int(numpy.prod(entry.shape)) * width

    def source(self, slot):
        return self.main.operators[0].inputs[slot]

    def place(self, slot, distance):
        """The output `distance` bytes below the operand in `slot`."""
        operands = self.main.inputs
        source, result = self.source(slot), self.main.outputs[0]
        self.offsets[source] = max(0, distance)
        self.offsets[result] = max(0, -distance)
        end = max(self.offsets[index] + self.bytes_of(index)
                  for index in (source, result))
        for index in set(operands) - {source}:
            self.offsets[index] = end
        return self.file.write_bytes(self.offsets)
