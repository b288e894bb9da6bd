"""Networks in tiles, in the real runtimes: the arena that calm predicts, no
more than a prototype needed, and the same outputs, also of an inner picture.
`make bench-tiling` measures more."""
import pytest

import models
import net_files
import nets
import pictures
import runtimes
import tflite_edit
import tool

OVERLAP = ("--kernels", "reference", "--overlap", "on")
# Model, regions, the most that head, and head and tail, may take.
CASES = [
    ("tflm_person_detect", "0-3:4:pad", 20400, 56176),
    ("tflm_person_detect", "0-3:3:same", 25552, 58752),
    ("mlperf_ic_resnet8_int8", "1-3:2:same", 27168, 35456),
    ("mlperf_ic_resnet8_int8", "0-7:8:cache", 20480, 61216),
    ("mlperf_ic_resnet8_int8", "0-7:2x2:pad", 21616, 41232),
    ("mlperf_kws_ref_int8", "0-8:5:cache", 13768, 56648),
    ("mlperf_ic_resnet8_float", "1-3:6:pad", 100736, 115040),
]
INVOCATIONS = pictures.invocations(2)
TICKS = ("--tick-limit", "2000000")


@pytest.fixture(autouse=True)
def needs_tiles():
    tool.need("plan", "--tile", "--overlap")


def case_path(name):
    path = models.CASES / "models" / f"{name}.tflite"
    if not path.exists():
        pytest.skip("the public cases are not there")
    return path


def run(path):
    facts = runtimes.start("run_tflm.py", path, "--pictures", "--invocations",
                           INVOCATIONS)
    assert "error" not in facts, facts["error"]
    return facts


def assert_same(path, out, planned):
    """The predicted arena, and every output of every input, each twice."""
    before, after = run(path), run(out)
    assert after["outputs"] == before["outputs"]
    assert after["head"] == planned["runtime"]["head_bytes"]
    assert after["tail"] == planned["runtime"]["tail_bytes"]
    return after


def probed(path, folder):
    """The model with an inner picture as one more output."""
    probe = folder / f"{path.stem}_probe.tflite"
    probe.write_bytes(tflite_edit.probe(path.read_bytes()))
    return probe


@pytest.mark.parametrize("name, tiles, head, total", CASES)
def test_tflm(name, tiles, head, total, tmp_path):
    path, out = case_path(name), tmp_path / "out.tflite"
    facts = assert_same(path, out, tool.write(path, out, *OVERLAP, "--tile",
                                              tiles))
    assert facts["head"] <= head and facts["total"] <= total
    probe = probed(path, tmp_path)
    assert_same(probe, out, tool.write(probe, out, *OVERLAP, "--tile", tiles))


@pytest.mark.parametrize("name", ["mlperf_ic_resnet8_int8"])
def test_search(name, tmp_path):
    """What the search writes is no worse than the file without tiles."""
    path, out = case_path(name), tmp_path / "out.tflite"
    plain = tool.plan(path, *OVERLAP)["runtime"]["arena_bytes"]
    planned = tool.write(path, out, *OVERLAP, "--tile", "auto", *TICKS)
    assert assert_same(path, out, planned)["total"] < plain


# Without overlap, too, and in a runtime that ignores the plan.
@pytest.mark.parametrize("name, tiles", [
    ("mlperf_ic_resnet8_int8", "0-3:4:pad"),
    ("mlperf_ic_resnet8_int8", "1-3:2:same"),
    ("mlperf_kws_ref_int8", "0-8:5:cache")])
def test_litert(name, tiles, tmp_path):
    path, out = case_path(name), tmp_path / "out.tflite"
    probe = probed(path, tmp_path)
    tool.write(probe, out, "--tile", tiles)
    for mode in ("reference", "xnnpack"):
        before, after = runtimes.start(
            "run_litert.py", mode, probe, out, "--pictures", "--invocations",
            INVOCATIONS)["models"]
        assert "error" not in after, after["error"]
        assert after["outputs"] == before["outputs"]


def strips_net(folder):
    net = nets.Net("strips", (96, 96, 3))
    x = net.conv("conv0", "x", 16, (3, 3), stride=2)
    x = net.depthwise("conv1", x, relu=True)
    x = net.conv("conv2", x, 32)
    net.depthwise("conv3", x, stride=2, relu=True)
    return net_files.write_onnx(net, folder / "strips.onnx")


def test_ort(tmp_path):
    """Slice, Conv with other pads on each side, Concat."""
    path, out = strips_net(tmp_path), tmp_path / "out.onnx"
    planned = tool.write(path, out, "--tile", "0-7:4:pad")["runtime"]
    before, after = runtimes.start("run_ort.py", path, out, "--pictures",
                                   "--invocations", INVOCATIONS)["models"]
    assert "error" not in after, after["error"]
    assert after["outputs"] == before["outputs"]
    assert after["peak"] < before["peak"]
    assert after["peak"] == (planned["plan"]["priority_peak_bytes"] +
                             planned["small_weight_bytes"])
