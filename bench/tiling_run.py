"""Plan a model in tiles, run the file, and compare it with the original."""
import functools
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/runtime")]

import models           # noqa: E402
import nets             # noqa: E402
import net_files        # noqa: E402
import pictures         # noqa: E402
import runtimes         # noqa: E402
import tflite_edit      # noqa: E402
import tool             # noqa: E402

RANDOMS = 8             # inputs beside the pictures
SECONDS = 600           # for all invocations of a file, and for a search
tool.SECONDS = SECONDS
MODES = ("reference", "plain", "xnnpack")


def path_of(model):
    return models.CASES / "models" / f"{model}.tflite"


@functools.cache
def run(path):
    """The arena and the outputs for all inputs, by TensorFlow Lite Micro."""
    return runtimes.start("run_tflm.py", path, "--pictures", "--invocations",
                          pictures.invocations(RANDOMS), seconds=SECONDS)


def without_plan(path, folder):
    """The model without the plan it came with, if any: the default head."""
    plain = folder / f"{path.stem}.plain.tflite"
    if not plain.exists():
        plain.write_bytes(tflite_edit.disable_plan(path.read_bytes()))
    return plain


def probe_of(path, folder):
    """The model with an inner picture as one more output."""
    probe = folder / f"{path.stem}.probe.tflite"
    if not probe.exists():
        probe.write_bytes(tflite_edit.probe(path.read_bytes()))
    return probe


def regions_of(facts):
    """As --tile takes them; empty: the model was not tiled."""
    tiles = (facts.get("tiling") or {}).get("tiles") or "none"
    return "" if tiles == "none" else tiles


def last_words(done):
    """The message that ended the tool, without the file that it names."""
    lines = done.stderr.strip().splitlines()
    return lines[-1].rsplit(".tflite: ", 1)[-1] if lines else ""


def plan(path, out, *options):
    """The tool's facts, or {"error": its message}."""
    done = tool.call("plan", path, "-o", out, *options, "--json")
    if done.returncode not in (0, 1) or not done.stdout.startswith("{"):
        return {"error": last_words(done) or f"exit {done.returncode}"}
    return tool.json.loads(done.stdout)


def same(before, after):
    """`yes`, or what is wrong; all outputs of all inputs, each twice."""
    if "error" in after:
        return after["error"].splitlines()[0]
    if not before.get("outputs"):
        return "the original does not run"
    wrong = sum(a != b for a, b in zip(before["outputs"], after["outputs"]))
    return f"{wrong} of {len(before['outputs'])} differ" if wrong else "yes"


def arena(facts, runtime):
    """`yes` if head and tail are the predicted ones."""
    wrong = [f"{part} {facts[part]:,}, predicted {runtime[part + '_bytes']:,}"
             for part in ("head", "tail") if part in facts and
             facts[part] != runtime[part + "_bytes"]]
    return ", ".join(wrong) or "yes"


def fixed(options, regions):
    """The options with the regions that a search has found in its place."""
    words = list(options)
    for option in ("--tile", "--time-limit", "--minimize", "--max-extra-macs"):
        if option in words:
            at = words.index(option)
            del words[at:at + 2]
    return (*words, "--tile", regions) if regions else tuple(words)


def check_probe(path, folder, options, regions):
    """Is the inner picture the same, too?"""
    probe = probe_of(path, folder)
    out = folder / f"{probe.stem}.planned.tflite"
    facts = plan(probe, out, *fixed(options, regions))
    if "error" in facts:
        return facts["error"]
    before, after = run(without_plan(probe, folder)), run.__wrapped__(out)
    verdict = same(before, after)
    return verdict if verdict != "yes" else arena(after, facts["runtime"])


def measure(path, folder, options, more):
    """Plan, write, run and compare; a row of facts.  `more` options change
    nothing of the plan."""
    out = folder / f"{path.stem}.planned.tflite"
    planned = plan(path, out, *options, *more)
    if "error" in planned:
        return {"error": planned["error"]}
    facts = run.__wrapped__(out)
    regions = regions_of(planned)
    return {"planned": planned, "facts": facts, "regions": regions,
            "same": same(run(path), facts),
            "arena": arena(facts, planned["runtime"]),
            "probe": check_probe(path, folder, options, regions)}


def litert(path, folder, regions):
    """Outputs in each set of kernels, of a tiled file; {mode: verdict}."""
    out = folder / f"{path.stem}.tiled.tflite"
    facts = plan(path, out, "--tile", regions)
    if "error" in facts:
        return {mode: facts["error"] for mode in MODES}
    count = pictures.invocations(RANDOMS)
    return {mode: same(*runtimes.start(
        "run_litert.py", mode, path, out, "--pictures", "--invocations", count,
        seconds=SECONDS)["models"]) for mode in MODES}


def library_row(path, library, regions):
    """Heads by the planner, of an int8 model under a kernel library: in order,
    with overlap, and with overlap and tiles; None where it does not plan."""
    words = ("--kernels", library)
    goals = (words, (*words, "--overlap", "on"),
             (*words, "--overlap", "on", "--tile", regions))
    return [head_of(path, options) for options in goals]


def head_of(path, options):
    done = tool.call("plan", path, *options, "--json")
    if not done.stdout.startswith("{"):
        return None
    return tool.json.loads(done.stdout)["runtime"]["head_bytes"]


def strips_net(folder):
    """A chain of convolutions in floats, for ONNX Runtime."""
    net = nets.Net("strips", (96, 96, 3))
    x = net.conv("conv0", "x", 16, (3, 3), stride=2)
    x = net.depthwise("conv1", x, relu=True)
    x = net.conv("conv2", x, 32)
    x = net.depthwise("conv3", x, stride=2, relu=True)
    x = net.conv("conv4", x, 32)
    net.conv("conv5", x, 32, (3, 3))
    return net_files.write_onnx(net, folder / "strips.onnx")


def ort(folder, tiles):
    """The meter before and after, and whether all outputs are equal."""
    path, out = strips_net(folder), folder / "strips.tiled.onnx"
    facts = plan(path, out, "--tile", tiles)
    if "error" in facts:
        return {"error": facts["error"]}
    before, after = runtimes.start(
        "run_ort.py", path, out, "--pictures", "--invocations",
        pictures.invocations(RANDOMS), seconds=SECONDS)["models"]
    return {"before": before.get("peak"), "after": after.get("peak"),
            "predicted": facts["runtime"]["plan"]["priority_peak_bytes"] +
            facts["runtime"]["small_weight_bytes"],
            "same": same(before, after), "regions": regions_of(facts)}
