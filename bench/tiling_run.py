"""Plan a model in tiles, run the file, and compare it with the original."""
import functools
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/runtime")]

import models           # noqa: E402
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


def region_text(region):
    """As --tile takes it."""
    tiles = str(region["rows"])
    if region["columns"] > 1:
        tiles += f"x{region['columns']}"
    return f"{region['first']}-{region['last']}:{tiles}:{region['mode']}"


def regions_of(facts):
    tiling = facts.get("tiling") or {}
    return ",".join(region_text(r) for r in tiling.get("regions", []))


def command(path, options):
    """The words after `calm plan` that a person would type."""
    return " ".join(["calm plan", path.name, *map(str, options)])


def plan(path, out, *options):
    """The tool's facts, or {"error": its message}."""
    done = tool.call("plan", path, "-o", out, *options, "--json")
    if done.returncode not in (0, 1) or not done.stdout.startswith("{"):
        return {"error": done.stderr.strip() or f"exit {done.returncode}"}
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
    for option in ("--tile", "--minimize", "--max-extra-macs"):
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


def measure(path, folder, options):
    """Plan, write, run and compare; a row of facts."""
    out = folder / f"{path.stem}.planned.tflite"
    planned = plan(path, out, *options)
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
