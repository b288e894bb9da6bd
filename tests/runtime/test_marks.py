"""The mark of a plan with overlaps: other tools read it by the official schema,
the runtimes load the file, and what other tools change is found out."""
import flatbuffers
import pytest
from ai_edge_litert import schema_py_generated as schema

import known
import models
import runtimes
import tflite_build
import tool

KERNELS = ("--kernels", "reference", "--overlap", "on")
NAMES = ["mlperf_kws_ref_int8", "mlperf_ic_resnet8_int8"]
MODELS = [path for path in models.tflite_cases() if path.stem in NAMES]


@pytest.fixture
def marked(model, tmp_path):
    tool.need("plan", "--overlap")
    out = tmp_path / "marked.tflite"
    assert tool.write(model, out, *KERNELS)["runtime"]["mark"]["holds"]
    return out


def unpack(path):
    return schema.ModelT.InitFromPackedBuf(path.read_bytes(), 0)


def pack(model, path):
    """As another tool would: the file is made anew."""
    model.buffers = [copy(buffer) for buffer in model.buffers]
    builder = flatbuffers.Builder(1 << 20)
    builder.Finish(model.Pack(builder), b"TFL3")
    path.write_bytes(bytes(builder.Output()))


def copy(buffer):
    entry = tflite_build.Buffer()
    entry.data = None if buffer.data is None else bytes(buffer.data)
    entry.offset, entry.size = buffer.offset, buffer.size
    return entry


def text_of(path):
    model = unpack(path)
    entries = {entry.name.decode(): entry.buffer for entry in model.metadata}
    return bytes(model.buffers[entries["calm.overlap"]].data).decode("ascii")


def verdict(path, code):
    done = tool.call("check", path, "--json")
    assert done.returncode == code, done.stdout + done.stderr
    return tool.json.loads(done.stdout)


def test_it_is_read_by_the_schema(model, marked):
    lines = dict(line.split(" ", 1) for line in text_of(marked).splitlines())
    assert lines["version"] == "1"
    assert lines["kernels"] == "reference"
    assert {"edition", "views", "calm", "graphs", "offsets"} <= lines.keys()


@pytest.mark.parametrize("mode", ["reference", "xnnpack"])
def test_litert_does_not_mind(model, marked, mode):
    before, after = runtimes.litert(mode, model, marked)
    if model.stem in known.LITERT_REFUSES:
        pytest.skip("LiteRT does not load the original either")
    assert after["outputs"] == before["outputs"]


def test_a_file_that_was_made_anew_keeps_it(model, marked, tmp_path):
    out = tmp_path / "packed.tflite"
    pack(unpack(marked), out)
    assert text_of(out) == text_of(marked)
    assert verdict(out, 0)["mark"]["holds"]
    assert runtimes.tflm(out)["outputs"] == runtimes.tflm(model)["outputs"]


def faults_of(marked, out, edit):
    other = unpack(marked)
    edit(other)
    pack(other, out)
    found = verdict(out, 1)
    assert not found["mark"]["holds"]
    return [fault["text"] for fault in found["faults"]
            if fault["kind"] == "mark"]


def add_tensor(model):
    """As a tool does that adds something which nobody reads."""
    graph = model.subgraphs[0]
    graph.tensors = list(graph.tensors) + [graph.tensors[0]]


def add_operator(model):
    """What was computed last is computed twice, the second time for nothing."""
    graph = model.subgraphs[0]
    last = graph.operators[-1]
    other = schema.OperatorT()
    other.opcodeIndex, other.inputs = last.opcodeIndex, last.inputs
    other.builtinOptionsType = last.builtinOptionsType
    other.builtinOptions = last.builtinOptions
    graph.tensors = list(graph.tensors) + [graph.tensors[last.outputs[0]]]
    other.outputs = [len(graph.tensors) - 1]
    graph.operators = list(graph.operators) + [other]


def flatten(model):
    """Another shape of as many bytes."""
    tensor = model.subgraphs[0].tensors[model.subgraphs[0].outputs[0]]
    tensor.shape = [1] + list(tensor.shape)
    tensor.shapeSignature = None


@pytest.mark.parametrize("edit", [add_tensor, add_operator, flatten])
def test_what_other_tools_change_is_found_out(model, marked, tmp_path, edit):
    texts = faults_of(marked, tmp_path / "edited.tflite", edit)
    assert any("the file was changed since" in text for text in texts)


def test_an_input_that_the_plan_overwrites_is_told(tmp_path):
    """The runtime alone keeps input and output of one operator apart."""
    tool.need("plan", "--overlap")
    path, out = tmp_path / "one.tflite", tmp_path / "planned.tflite"
    file = tflite_build.File()
    main = file.graph()
    x = main.tensor("x", [1, 64], main.inputs)
    main.op("LOGISTIC", [x], [main.tensor("y", [1, 64], main.outputs)])
    file.write(path)
    done = tool.call("plan", path, *KERNELS, "-o", out)
    assert done.returncode == 0
    assert "input 'x' is overwritten while the plan runs" in done.stderr
    found = verdict(out, 0)
    assert [warning["kind"] for warning in found["warnings"]] == ["input"]
    assert found["arena_bytes"] == 256
    assert "overwritten" not in tool.call("plan", path).stderr
    planned = runtimes.tflm(out)
    assert "error" not in planned and planned["head"] == 256
