"""Networks of true shapes, as they are and in the best order: each runtime
takes what it was seen to take of such networks before, and what calm says.  On
these figures test_rewriting.py builds."""
import pytest

import net_files
import nets_run
import runtimes
import tool

# Name, head as it is in TensorFlow Lite Micro, tail, heads planned in that
# order and in the best one; LiteRT's arena as it is; ONNX Runtime's peak as it
# is and in the best order.
FIGURES = [
    ("swiftnet", 1505280, 43520, 1404928, 1103872, 2007040, 1405056, 1104000),
    ("nasnet", 851968, 36448, 851968, 753664, 864256, 853416, 755112),
    ("amoebanet", 720896, 32432, 589824, 524288, 602112, 591016, 525480),
    ("darts_v1", 720896, 25168, 720896, 655360, 733184, 722344, 656808),
    ("darts_v2", 786432, 26912, 720896, 589824, 733184, 722472, 591400),
    ("pnasnet", 851968, 42256, 851968, 720896, 864256, 853672, 722600),
    ("darts_cell", 1354752, 17200, 1204224, 1204224, 1213632, 1204224, 1204224),
]
NAMES = [row[0] for row in FIGURES]
# Of the largest output: so close to the truth are the floats of all runtimes.
NEAR = 1e-6


@pytest.mark.parametrize("name, head, tail, listed, best",
                         [row[:5] for row in FIGURES], ids=NAMES)
def test_tflm(name, head, tail, listed, best, tmp_path):
    path, out = net_files.path_of(name, "tflite"), tmp_path / "out.tflite"
    planned = tool.write(path, out)
    before, after = runtimes.tflm(path), runtimes.tflm(out)
    assert (before["head"], before["tail"]) == (head, tail)
    assert planned["runtime"]["default_head_bytes"] == head
    assert planned["runtime"]["default_tail_bytes"] == tail
    assert after["head"] == planned["runtime"]["head_bytes"] == best
    assert after["outputs"] == before["outputs"]
    planned = tool.plan(path, "--order", "file")
    assert planned["layout"]["arena_bytes"] == listed


@pytest.mark.parametrize("name, span", [(row[0], row[5]) for row in FIGURES],
                         ids=NAMES)
def test_litert(name, span):
    path = net_files.path_of(name, "tflite")
    planned = tool.plan(path, "--memory", "litert")["runtime"]
    facts, = runtimes.litert("reference", path)
    assert facts["span"] == planned["default_head_bytes"] == span


@pytest.mark.parametrize("name, peak, best", [(row[0], *row[6:])
                                              for row in FIGURES], ids=NAMES)
def test_ort(name, peak, best, tmp_path):
    path, out = net_files.path_of(name, "onnx"), tmp_path / "out.onnx"
    planned = tool.write(path, out)["runtime"]
    small = planned["small_weight_bytes"]
    before, after = runtimes.ort(path, out)
    assert before["peak"] == peak
    assert before["peak"] == planned["file"]["priority_peak_bytes"] + small
    assert after["peak"] == best
    assert after["peak"] == planned["plan"]["priority_peak_bytes"] + small
    assert after["outputs"] == before["outputs"]


@pytest.mark.parametrize("name, head, span", [
    ("four_branches", 131072, 143360), ("traps", None, None)])
def test_int8(name, head, span):
    """Both runtimes compute the same, and what they compute varies."""
    path = net_files.path_of(name, "int8.tflite")
    tflm, (litert,) = runtimes.tflm(path), runtimes.litert("reference", path)
    assert head is None or (tflm["head"], litert["span"]) == (head, span)
    assert tflm["outputs"] == litert["outputs"]
    assert tflm["outputs"][0] != tflm["outputs"][1]


@pytest.mark.parametrize("name", [*NAMES, "traps"])
def test_values(name):
    """The runtimes compute what the network is, written either way."""
    for kind, names in nets_run.RUNTIMES.items():
        exact = nets_run.truth(name, kind)
        for runtime in names:
            y = nets_run.original(runtime, name)
            distance = nets_run.largest(y - exact)
            assert distance <= NEAR * nets_run.largest(exact)
