"""Evaluations whose figures others have published, and what calm says of them.

Each is a machine, a layer, a loop nest and energies as they were published,
with the report that Timeloop printed.  Where a published file is not what was
run, the change is written here.
"""
import dataclasses
import functools
import math
import pathlib
import tempfile

import yaml

import figures
import older
import stats
import tool

ISPASS = "ispass2020"
DESIGNS = "example_designs"
GLOBAL_BUFFER = ("DRAM", "shared_glb")


@dataclasses.dataclass(frozen=True)
class Run:
    """Paths are those below the cases; edits are applied to the machine."""
    name: str
    arch: str
    problem: str
    mapping: str
    printed: str
    ert: str
    edits: tuple = ()
    # (outer, inner) levels between which the older rule for windows loads more.
    window: tuple = ()


def exercise(number, folder, arch, problem, mapping, output="", program="model",
             edits=(), window=()):
    base = f"{ISPASS}/{folder}"
    report = f"{base}/ref-output/{output}timeloop-{program}"
    return Run(f"{number} {output.strip('/')}".strip(), f"{base}/arch/{arch}",
               f"{base}/prob/{problem}", mapping.format(base=base,
                                                        report=report),
               report + ".stats.txt", report + ".ERT.yaml", edits, window)


def exercises():
    two, conv = "2level.arch.yaml", "conv1d.prob.yaml"
    wide = "conv1d+oc.prob.yaml"
    yield exercise("00", "00-model-conv1d-1level", "1level.arch.yaml", conv,
                   "{base}/map/conv1d-1level.map.yaml")
    for flow in ("os", "ws"):
        yield exercise("01", "01-model-conv1d-2level", two, conv,
                       f"{{base}}/map/conv1d-2level-{flow}.map.yaml",
                       f"{flow}/")
    for output, file in (("no-tiling", "os"), ("tiling", "os-tiled")):
        yield exercise("02", "02-model-conv1d+oc-2level", two, wide,
                       f"{{base}}/map/conv1d+oc-2level-{file}.map.yaml",
                       f"{output}/")
    for output in ("baked", "freebypass", "null"):
        yield exercise("05", "05-mapper-conv1d+oc-3level", "3level.arch.yaml",
                       wide, "{report}.map.yaml", f"{output}/", "mapper")
    yield exercise("06", "06-mapper-convlayer-eyeriss", "eyeriss_like.yaml",
                   "VGG02_layer5.yaml", "{report}.map.yaml", "", "mapper",
                   window=GLOBAL_BUFFER)
    # The authors' script fills these in.
    for output, psum, data, window in (
            ("fpmac", "32", "32", ()), ("intmac", "16", "8", GLOBAL_BUFFER)):
        yield exercise("timeloop+accelergy", "timeloop+accelergy", "arch.yaml",
                       "prob.yaml", "{report}.map.yaml", f"{output}/", "mapper",
                       (("{{psum_datawidth}}", psum),
                        ("{{input_weight_datawidth}}", data),
                        ("{{mac_class}}", output)), window)


def designs():
    for name, window in (("eyeriss_like", GLOBAL_BUFFER), ("simba_like", ()),
                         ("simple_output_stationary", GLOBAL_BUFFER),
                         ("simple_weight_stationary", ())):
        report = f"{DESIGNS}/{name}/ref_outputs/default_problem/timeloop-mapper"
        yield Run(name, f"{DESIGNS}/{name}/arch.yaml",
                  f"{DESIGNS}/_include/default_problem.yaml",
                  report + ".map.yaml", report + ".stats.txt",
                  report + ".ERT_summary.yaml", window=window)


def edited(path, edits, folder):
    """A copy of a case in which texts are replaced, each found at least once;
    without edits the case itself."""
    path = tool.CASES / path
    if not edits:
        return path
    text = path.read_text()
    for old, new in edits:
        assert old in text, f"{old!r} is not in {path}"
        text = text.replace(old, new)
    copy = pathlib.Path(folder) / path.name
    copy.write_text(text)
    return copy


@functools.cache
def answer(run, cost):
    with tempfile.TemporaryDirectory() as folder:
        return tool.evaluate_files(
            edited(run.arch, run.edits, folder), tool.CASES / run.problem,
            tool.CASES / run.mapping, "--ert", tool.CASES / run.ert,
            "--cost", cost)


def printable(report):
    """The figures, with those that only a printed report has."""
    found = figures.of_report(report)
    found["energy_uj",] = report["energy_pj"] / 1e6
    spent = {"Total": report["energy_pj"],
             report["networks"][-1]["to"]: report["compute_energy_pj"]}
    for level in report["levels"]:
        spent[level["name"]] = level["energy_pj"]
        found[level["name"], "leak_energy_pj"] = level["leak_energy_pj"]
    return found | {("fj", name): 1e3 * energy / report["computes"]
                    for name, energy in spent.items()}


# ---- Windows of then ---------------------------------------------------------

def factors_of(entry):
    """[(dimension, factor)] in the order of a mapping's entry."""
    factors = {word[0]: int(word[1:].lstrip("="))
               for word in entry["factors"].split()}
    return [(dimension, factors[dimension])
            for dimension in entry["permutation"]]


def input_words(run):
    """Words of Inputs that the loops of run.window's outer level load."""
    mapping, problem = (yaml.safe_load((tool.CASES / path).read_text())
                        for path in (run.mapping, run.problem))
    loops = {"in": [], "out": []}
    for entry in mapping["mapping"]:
        if entry["type"] in ("temporal", "spatial"):
            side = "out" if entry["target"] == run.window[0] else "in"
            loops[side] += factors_of(entry)
    return older.input_words(problem["problem"]["instance"], loops["in"],
                             loops["out"])


def count_as_then(found, run, report):
    """Put in what the older rule for windows loads, and all that follows."""
    words = input_words(run)
    for level in report["levels"]:
        name = level["name"]
        if name not in run.window:
            continue
        key = "reads" if name == run.window[0] else "fills"
        action = {"reads": "read_pj", "fills": "write_pj"}[key]
        before, block = found[name, "Inputs", key], level["block_words"]
        energy = level["vector_energy"][action] * (
            math.ceil(words / block) - math.ceil(before / block))
        found[name, "Inputs", key] = words
        found[name, "Inputs", "address_generations"] += words - before
        found[name, "Inputs", "energy_pj"] += energy
        found["energy_uj",] += energy / 1e6
        for part in (name, "Total"):
            found["fj", part] += 1e3 * energy / report["computes"]


# ---- Comparing ---------------------------------------------------------------

def differences(found, printed):
    """A line for each printed figure that is another one."""
    lines = []
    for key, text in printed.items():
        value, unit = found.get(key), 1.0
        if key[0] == "fj":
            text, unit = text
        if value is None or not stats.shows(text, value / unit):
            lines.append(f"{' '.join(key)}: {value}, printed {text}")
    return lines


def judge(run, cost="timeloop", then=True):
    """(figures printed, lines for those that are others); `then`: with the
    older rule for windows, where the run needs it."""
    said = answer(run, cost)
    if said.code:
        return 0, [f"exit {said.code}: {said.told()}"]
    found, printed = printable(said.report), stats.read(
        tool.CASES / run.printed)
    if run.window and then:
        count_as_then(found, run, said.report)
    return len(printed), differences(found, printed)
