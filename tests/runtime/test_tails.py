"""What TensorFlow Lite Micro keeps for one operator of each kind: the tail of
a model that has nothing else is the one that calm predicts."""
import csv

import pytest

import checks
import models
import runtimes
import tool
from tflite_build import File

A = [1, 4, 4, 8]


def tensor(shape, dtype="float32", data=None):
    return shape, dtype, data


def const(values, dtype="int32"):
    """A vector of constants."""
    return tensor([len(values)], dtype, values)


X, I, B = tensor(A), tensor(A, "int32"), tensor(A, "bool")
AXES, ONE_AXIS = const([1, 2]), tensor([], "int32", 1)
FILTER = tensor([8, 1, 1, 8], "float32", [0] * 64)
PADS = tensor([4, 2], "int32", [0, 0, 1, 1, 1, 1, 0, 0])
PADDED = tensor([1, 6, 6, 8])
POOL = {"strideH": 2, "strideW": 2, "filterHeight": 2, "filterWidth": 2}
HALF = tensor([1, 2, 2, 8])
UNARY = ("ABS CEIL COS ELU EXP FLOOR HARD_SWISH L2_NORMALIZATION LEAKY_RELU "
         "LOG LOG_SOFTMAX LOGISTIC NEG RELU RELU6 ROUND RSQRT SIN SOFTMAX SQRT "
         "SQUARE TANH").split()
BINARY = ("ADD DIV FLOOR_DIV FLOOR_MOD MAXIMUM MINIMUM MUL SQUARED_DIFFERENCE "
          "SUB").split()
COMPARING = "EQUAL GREATER GREATER_EQUAL LESS LESS_EQUAL NOT_EQUAL".split()
REDUCING = "MEAN SUM REDUCE_MAX REDUCE_MIN".split()

# Kind, operands, results, options.
OPERATORS = [
    *[(kind, [X], [X], {}) for kind in UNARY],
    *[(kind, [X, X], [X], {}) for kind in BINARY],
    *[(kind, [X, X], [B], {}) for kind in COMPARING],
    *[(kind, [X, AXES], [tensor([1, 8])], {}) for kind in REDUCING],
    ("ADD_N", [X, X, X], [X], {}),
    ("ARG_MAX", [X, ONE_AXIS], [tensor([1, 4, 8], "int32")],
     {"outputType": 2}),
    ("ARG_MIN", [X, ONE_AXIS], [tensor([1, 4, 8], "int32")],
     {"outputType": 2}),
    ("AVERAGE_POOL_2D", [X], [HALF], POOL),
    ("BATCH_MATMUL", [tensor([2, 3, 4]), tensor([2, 4, 5])],
     [tensor([2, 3, 5])], {}),
    ("BATCH_MATMUL", [tensor([2, 4, 3]), tensor([2, 5, 4])],
     [tensor([2, 3, 5])], {"adjX": True, "adjY": True}),
    ("BATCH_MATMUL", [tensor([2, 3, 4]), tensor([2, 5, 4])],
     [tensor([2, 3, 5])], {"adjY": True}),
    ("BATCH_TO_SPACE_ND", [tensor([4, 2, 2, 8]), const([2, 2]),
                           tensor([2, 2], "int32", [0] * 4)], [X], {}),
    ("BROADCAST_TO", [tensor([1, 1, 1, 8]), const(A)], [X], {}),
    ("CAST", [I], [X], {}),
    ("CONCATENATION", [X, X], [tensor([1, 4, 4, 16])], {"axis": 3}),
    ("CONV_2D", [X, FILTER], [X], {"strideH": 1, "strideW": 1}),
    ("CUMSUM", [X, ONE_AXIS], [X], {}),
    ("DEPTHWISE_CONV_2D", [X, tensor([1, 1, 1, 8], "float32", [0] * 8)], [X],
     {"strideH": 1, "strideW": 1, "depthMultiplier": 1}),
    ("DEPTH_TO_SPACE", [X], [tensor([1, 8, 8, 2])], {"blockSize": 2}),
    ("EMBEDDING_LOOKUP", [const([1, 0]), tensor([3, 4], "float32", [0] * 12)],
     [tensor([2, 4])], {}),
    ("EXPAND_DIMS", [tensor([4, 8]), ONE_AXIS], [tensor([4, 1, 8])], {}),
    ("FILL", [const(A), tensor([])], [X], {}),
    ("FULLY_CONNECTED", [tensor([1, 8]), tensor([4, 8], "float32", [0] * 32)],
     [tensor([1, 4])], {}),
    ("GATHER", [X, const([1, 0])], [tensor([1, 2, 4, 8])], {"axis": 1}),
    ("GATHER_ND", [tensor([4, 8]), tensor([3, 1], "int32", [0, 1, 2])],
     [tensor([3, 8])], {}),
    ("L2_POOL_2D", [X], [HALF], POOL),
    ("LOGICAL_AND", [B, B], [B], {}),
    ("LOGICAL_NOT", [B], [B], {}),
    ("LOGICAL_OR", [B, B], [B], {}),
    ("MAX_POOL_2D", [X], [HALF], POOL),
    ("MIRROR_PAD", [X, PADS], [PADDED], {}),
    ("PACK", [X, X], [tensor([2, *A])], {"valuesCount": 2}),
    ("PAD", [X, PADS], [PADDED], {}),
    ("PADV2", [X, PADS, tensor([], "float32", 1)], [PADDED], {}),
    ("PRELU", [X, tensor([1, 1, 8], "float32", [0] * 8)], [X], {}),
    ("REDUCE_ALL", [B, AXES], [tensor([1, 8], "bool")], {}),
    ("RESHAPE", [X, const([16, 8])], [tensor([16, 8])], {}),
    ("RESIZE_BILINEAR", [X, const([8, 8])], [tensor([1, 8, 8, 8])], {}),
    ("RESIZE_NEAREST_NEIGHBOR", [X, const([8, 8])], [tensor([1, 8, 8, 8])],
     {}),
    ("REVERSE_V2", [X, const([1])], [X], {}),
    ("SELECT_V2", [B, X, X], [X], {}),
    ("SHAPE", [X], [tensor([4], "int32")], {"outType": 2}),
    ("SLICE", [X, const([0] * 4), const([1, 2, 2, 8])], [HALF], {}),
    ("SPACE_TO_BATCH_ND", [X, const([2, 2]),
                           tensor([2, 2], "int32", [0] * 4)],
     [tensor([4, 2, 2, 8])], {}),
    ("SPACE_TO_DEPTH", [X], [tensor([1, 2, 2, 32])], {"blockSize": 2}),
    ("SPLIT", [ONE_AXIS, X], [tensor([1, 2, 4, 8])] * 2, {"numSplits": 2}),
    ("SPLIT_V", [X, const([1, 3]), ONE_AXIS],
     [tensor([1, 1, 4, 8]), tensor([1, 3, 4, 8])], {"numSplits": 2}),
    ("SQUEEZE", [X], [tensor([4, 4, 8])], {"squeezeDims": [0]}),
    ("STRIDED_SLICE", [X, const([0] * 4), const([1, 2, 2, 8]),
                       const([1] * 4)], [HALF], {}),
    ("TRANSPOSE", [X, const([0, 2, 1, 3])], [X], {}),
    ("TRANSPOSE_CONV", [const(A), FILTER, X], [X],
     {"strideH": 1, "strideW": 1}),
    ("UNPACK", [tensor([2, 4])], [tensor([4])] * 2, {"num": 2}),
    ("ZEROS_LIKE", [X], [X], {}),
]


def build(path, kind, operands, results, options):
    file = File()
    main = file.graph()
    inputs = [main.tensor(f"in{i}", shape,
                          main.inputs if data is None else None, dtype, data)
              for i, (shape, dtype, data) in enumerate(operands)]
    outputs = [main.tensor(f"out{i}", shape, main.outputs, dtype)
               for i, (shape, dtype, _) in enumerate(results)]
    main.op(kind, inputs, outputs, **options)
    return file.write(path)


@pytest.mark.parametrize("operator", OPERATORS,
                         ids=lambda operator: operator[0])
def test_tail_of_one_operator(operator, tmp_path):
    model = build(tmp_path / "one.tflite", *operator)
    facts = runtimes.tflm(model)
    assert "tail" in facts, facts["error"]
    runtime = tool.facts("inspect", model)["runtime"]
    assert runtime["tail_exact"]
    checks.assert_arena(facts, runtime)


def names(operators):
    """A name for each, by which tests/tflm_tails_32bit.csv knows it: the kind,
    and a number from the second of a kind on."""
    found = []
    for kind, *_ in operators:
        count = 1 + sum(name.split()[0] == kind for name in found)
        found.append(kind if count == 1 else f"{kind} {count}")
    return [f"operator_{name.lower().replace(' ', '_')}" for name in found]


def measured_on_arm():
    path = models.ROOT / "tests/tflm_tails_32bit.csv"
    with path.open(newline="") as file:
        return {row["name"]: int(row["bytes"]) for row in csv.DictReader(file)}


def test_tails_on_arm(tmp_path):
    """Measured on a 32-bit target, once; no runtime is needed here."""
    tool.need("inspect", "--target")
    expected, found = measured_on_arm(), {}
    for name, operator in zip(names(OPERATORS), OPERATORS):
        model = build(tmp_path / "one.tflite", *operator)
        runtime = tool.facts("inspect", model, "--target", "32bit")["runtime"]
        assert runtime["target"] == "32bit" and runtime["tail_exact"]
        found[name] = runtime["tail_bytes"]
    assert found == {name: expected[name] for name in found}
