"""Rewritten networks in the real runtimes: they take what calm predicts, less
than before, and compute the same; every bit where numbers are whole."""
import onnx
import pytest

import checks
import models
import net_files
import nets_run
import partial_sums
import runtimes
import test_nets
import tflite_edit
import tool

# What a network takes at most once it is rewritten: ONNX Runtime's peak with
# sums in the convolution and with additions; the head in TensorFlow Lite Micro
# with the plan in the file and without one; LiteRT's arena.
MOST = {
    "swiftnet": (802944, 853120, 802816, 1003520, 1505280),
    "nasnet": (525736, 656808, 589824, 720896, 667648),
    "amoebanet": (492712, 525480, 524288, 524288, 602112),
    "darts_v1": (558504, 656808, 622592, 655360, 634880),
    "darts_v2": (493096, 591400, 557056, 589824, 569344),
    "pnasnet": (493224, 558760, 491520, 622592, 503808),
    "darts_cell": (752640, 752640, 752640, 903168, 762048),
}


def some_slow(names, fast):
    return [name if name in fast else
            pytest.param(name, marks=pytest.mark.slow) for name in names]


NETS = some_slow(MOST, {"swiftnet", "nasnet", "darts_v1", "darts_v2",
                        "darts_cell"})
# The heads in the best order.
BEST = {row[0]: row[4] for row in test_nets.FIGURES}
IN_PLACE = ("--kernels", "reference")
PARTIALS = ["accumulate", "add-copy"]


@pytest.fixture(autouse=True)
def needs_rewriting():
    tool.need("plan", "--rewrite", "--partials")


def rewrite(name, kind, folder, *options):
    """The original, the rewritten file, and what calm says of it."""
    path, out = net_files.path_of(name, kind), folder / f"{name}.{kind}"
    return path, out, tool.write(path, out, *options)


def assert_ort(path, out, predicted, hidden=0):
    """The checker accepts the file, and its peak is the predicted one, without
    the small weights that only nodes of weights read (hidden)."""
    onnx.checker.check_model(onnx.load(out), full_check=True)
    before, after = runtimes.ort(path, out)
    assert "error" not in after, after["error"]
    assert after["peak"] == (predicted["plan"]["priority_peak_bytes"] +
                             predicted["small_weight_bytes"] + hidden)
    return before["peak"], after["peak"]


@pytest.mark.parametrize("partials", PARTIALS)
@pytest.mark.parametrize("name", NETS)
def test_ort(name, partials, tmp_path):
    path, out, planned = rewrite(name, "onnx", tmp_path, "--rewrite", "auto",
                                 "--partials", partials)
    _, peak = assert_ort(path, out, planned["runtime"])
    assert peak <= MOST[name][PARTIALS.index(partials)]
    nets_run.assert_near(name, out, "ort")


def assert_tflm(out, predicted):
    facts = runtimes.start("run_tflm.py", out)
    assert "error" not in facts, facts["error"]
    checks.assert_arena(facts, predicted)
    return facts


@pytest.mark.parametrize("options", [(), IN_PLACE], ids=" ".join)
@pytest.mark.parametrize("name", NETS)
def test_tflm(name, options, tmp_path):
    """With the plan in the file."""
    _, out, planned = rewrite(name, "tflite", tmp_path, "--rewrite", "auto",
                              *options)
    facts = assert_tflm(out, planned["runtime"])
    assert facts["head"] == planned["layout"]["arena_bytes"]
    assert facts["head"] <= (MOST[name][2] if options else BEST[name])
    nets_run.assert_near(name, out, "tflm")


def own_head(path, out, *options):
    """The head of a file that has no plan in it."""
    planned = tool.write(path, out, "--no-offline-plan", *options)
    return assert_tflm(out, planned["runtime"])["head"]


@pytest.mark.parametrize("name", NETS)
def test_tflm_alone(name, tmp_path):
    """The runtime's own planner never takes more for a rewritten file than for
    the original in the best order."""
    path, out = net_files.path_of(name, "tflite"), tmp_path / "out.tflite"
    best = own_head(path, out)
    rewritten = own_head(path, out, "--rewrite", "auto")
    assert rewritten <= min(best, MOST[name][3])
    nets_run.assert_near(name, out, "tflm")


@pytest.mark.parametrize("name", NETS)
def test_litert(name, tmp_path):
    _, out, planned = rewrite(name, "tflite", tmp_path, "--rewrite", "auto",
                              "--memory", "litert")
    facts, = runtimes.litert("reference", out)
    assert facts["span"] == planned["runtime"]["head_bytes"]
    assert facts["span"] <= MOST[name][4]
    nets_run.assert_near(name, out, "reference", "xnnpack")


@pytest.mark.parametrize("options", [
    ("onnx", "--partials", "accumulate"), ("onnx", "--partials", "add-copy"),
    ("tflite",), ("tflite", "--memory", "litert")], ids=" ".join)
@pytest.mark.parametrize("name", some_slow([*MOST, "traps"],
                                           {"darts_v1", "traps"}))
def test_all_sites(name, options, tmp_path):
    """Also where it does not pay, each sum is as exact as it can be."""
    kind, *options = options
    path, out, planned = rewrite(name, kind, tmp_path, "--rewrite", "all",
                                 *options)
    if kind == "onnx":
        assert_ort(path, out, planned["runtime"])
    elif not options:
        assert_tflm(out, planned["runtime"])
    assert any(site["applied"] for site in planned["rewrite"]["sites"])
    if name == "traps":
        assert partial_sums.count(kind, out, "concat") == 0
    assert nets_run.assert_sums(name, kind, out) > 0
    nets_run.assert_near(name, out, *nets_run.RUNTIMES[kind])


def digests(path, *modes):
    """What all runtimes compute, as digests; and the arenas of two."""
    facts = [runtimes.start("run_tflm.py", path)]
    facts += [runtimes.litert(mode, path)[0] for mode in modes]
    return ([found["outputs"] for found in facts], facts[0]["head"],
            facts[1]["span"])


# The optimised kernels of LiteRT for depthwise convolutions depend on whether
# the number of channels is a multiple of 8.
MODES = {"four_branches": ["reference", "plain", "xnnpack"],
         "traps": ["reference", "xnnpack"]}


@pytest.mark.parametrize("options", [("auto",), ("all",),
                                     ("all", "--memory", "litert")],
                         ids=" ".join)
@pytest.mark.parametrize("name", MODES)
def test_whole_numbers(name, options, tmp_path):
    """What is done to each channel moves above the concats of int8 networks,
    and no bit changes."""
    path, out, planned = rewrite(name, "int8.tflite", tmp_path, "--rewrite",
                                 *options)
    before, after = (digests(file, *MODES[name]) for file in (path, out))
    assert after[0] == before[0]
    predicted = planned["runtime"]["head_bytes"]
    assert predicted == after[2 if "litert" in options else 1]


def test_half_the_picture(tmp_path):
    """A depthwise convolution of stride 2 behind a concat shrinks its operands
    first."""
    path, out, _ = rewrite("four_branches", "int8.tflite", tmp_path,
                           "--rewrite", "auto")
    heads = [runtimes.start("run_tflm.py", file)["head"]
             for file in (path, out)]
    assert heads == [131072, 49152]
    plain = tmp_path / "plain.tflite"
    plain.write_bytes(tflite_edit.disable_plan(out.read_bytes()))
    assert runtimes.start("run_tflm.py", plain)["head"] <= 53248
    _, out, _ = rewrite("four_branches", "int8.tflite", tmp_path, "--rewrite",
                        "auto", "--memory", "litert")
    facts, = runtimes.litert("reference", out)
    assert facts["span"] <= 65536


def test_whole_numbers_keep_sums(tmp_path):
    """A convolution behind a concat of an int8 network stays as it is, and the
    list of sites says why."""
    _, _, planned = rewrite("four_branches", "int8.tflite", tmp_path,
                            "--rewrite", "all")
    refused = [site for site in planned["rewrite"]["sites"]
               if not site["applied"]]
    assert refused and all(site["reason"] for site in refused)


@pytest.mark.parametrize("name", ["mlperf_ic_resnet8_int8",
                                  "mlperf_vww_96_float"])
def test_nothing_to_rewrite(name, tmp_path):
    """A file without sites is written as without the option."""
    path = models.CASES / f"models/{name}.tflite"
    if not path.exists():
        pytest.skip("no public cases")
    plain, out = tmp_path / "plain.tflite", tmp_path / "out.tflite"
    tool.write(path, plain)
    tool.write(path, out, "--rewrite", "auto")
    assert out.read_bytes() == plain.read_bytes()


LIGHT = {path.stem: path for path in models.light_models()}


@pytest.mark.parametrize("name, options, most, hidden", [
    ("light_densenet121", ["--no-rewrite-affine"], 6422528, 0),
    ("light_densenet121", [], 5218304, 0),
    ("light_inception_v1", [], 4646752, 16)])  # a shape of weights
def test_light(name, options, most, hidden, tmp_path):
    """Networks of hundreds of operators."""
    path, out = models.folded_light(LIGHT[name]), tmp_path / "out.onnx"
    planned = tool.write(path, out, "--rewrite", "auto", "--partials",
                         "accumulate", *options)
    before, after = assert_ort(path, out, planned["runtime"], hidden)
    assert after <= min(before, most)
    first, second = (nets_run.first_output("ort", file) for file in (path, out))
    assert (nets_run.largest(second - first) <=
            nets_run.NEAR * nets_run.largest(first))
