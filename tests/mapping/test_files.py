"""Small inputs with Timeloop's answer: spellings of mappings, single keys of
machines, and convolutions over one row."""
import json

import pytest

import figures
import goldens
import tool


def cases_of(name):
    """The cases of a file, with the machine that the file names."""
    path = goldens.FOLDER / name
    if not path.exists():
        return [None]
    data = json.loads(path.read_text())
    if isinstance(data, list):
        return data
    arch = goldens.FOLDER / f"arch/{data['arch']}.yaml"
    return [{"arch_yaml": arch.read_text(), **case} for case in data["cases"]]


def all_of(name):
    return pytest.mark.parametrize(
        "case", cases_of(name), ids=lambda case: case["name"] if case else "-")


def evaluate(case, folder, cost):
    if case is None:
        pytest.skip("the public cases are not there")
    files = []
    for part in ("arch", "problem", "mapping"):
        files.append(folder / f"{part}.yaml")
        files[-1].write_text(case[f"{part}_yaml"])
    return tool.evaluate_files(*files, "--cost", cost, "--fanout",
                               "cumulative")


# ---- Rows of outputs ---------------------------------------------------------

@pytest.mark.parametrize("cost, variant", (("timeloop", "default"),
                                           ("exact", "full_nolink")))
@all_of("micro_cases.json")
def test_row(case, tmp_path, cost, variant):
    said = evaluate(case, tmp_path, cost)
    assert said.code == 0, said.told()
    assert figures.differences(
        figures.of_report(said.report),
        goldens.of_printed(case["results"][variant])) == []


# ---- Keys of machines --------------------------------------------------------

@all_of("arch_keys.json")
def test_key(case, tmp_path):
    said = evaluate(case, tmp_path, "timeloop")
    if case["status"] != "ok":
        fault, _ = goldens.fault_of(case["reason"])
        assert (said.code, said.report["fault"]) == (1, fault)
        return
    assert said.code == 0, said.told()
    expected = {("cycles",): case["cycles"], ("energy_pj",): case["energy_pJ"]}
    for name, network in case["networks"].items():
        for tensor, flow in network.items():
            expected |= goldens.place(
                name.split(">")[0] + ">", tensor,
                ("ingresses", "hops", "energy_pj"),
                (flow["ingr"], flow["hops"], flow["E"]))
    assert figures.wrong(figures.of_report(said.report), expected) == []


# ---- Spellings of mappings ---------------------------------------------------

# The file's energies are of runs that visit the last iteration as well.  These
# are two cases where Timeloop prints another one by default, as the reference
# model says.
BY_DEFAULT = {"P0 = full bound": 19678.070351758794,
              "PEBuffer temporal directive absent": 20112.281407035174}
# How calm names what Timeloop refuses: exit code, and words of the message.
REFUSED = {
    "unknown dimension": (3, "the layer has no dimension 'M'"),
    "unknown target": (3, "the architecture has no level 'Foo'"),
    "unknown data space": (3, "the layer has no tensor 'Foo'"),
    "product too small": (1, "R make up 1 iterations, its bound is 3"),
    "split 0 on a 1-D X array": (1, "4 rows in use exceed the 1"),
}
# Timeloop looks for a network that fans out; one iteration needs none.
ACCEPTED = ("spatial at level without fan-out",)


@all_of("mapping_syntax.json")
def test_spelling(case, tmp_path):
    said = evaluate(case, tmp_path, "timeloop")
    name = case["name"]
    if case["status"] == "ok":
        assert said.code == 0, said.told()
        energy = BY_DEFAULT.get(name, case["energy_pJ"])
        assert figures.wrong(figures.of_report(said.report), {
            ("cycles",): case["cycles"], ("energy_pj",): energy}) == []
    elif name in ACCEPTED:
        assert said.code == 0 and said.report["cycles"] == 24
    else:
        code, words = REFUSED[name]
        assert said.code == code and words in said.told()


# ---- Rules in several files --------------------------------------------------

RULE = "constraints: [{{target: {}, type: temporal, factors: {}}}]\n"
MACHINE = """arch:
  arithmetic: {{instances: 1}}
  storage:
  - {{name: Buffer, entries: 64, instances: 1{}}}
  - {{name: DRAM, technology: DRAM, instances: 1}}
problem: {{shape: gemm_ABZ, M: 8, N: 1, K: 1}}
mapping:
- {{target: DRAM, type: temporal, factors: "M=3"}}
- {{target: Buffer, type: temporal, factors: "M=3,2"}}
"""


def with_rules(folder, *rules):
    arch = folder / "arch.yaml"
    arch.write_text(MACHINE.format(""))
    options = []
    for i, rule in enumerate(rules):
        path = folder / f"rules{i}.yaml"
        path.write_text(RULE.format(*rule))
        options += ["--constraints", path]
    return tool.evaluate("--arch", arch, *options)


def test_rules_of_several_files(tmp_path):
    said = with_rules(tmp_path, ("DRAM", "M=3"), ("Buffer", "M=3"))
    assert said.code == 0, said.told()
    said = with_rules(tmp_path, ("DRAM", "M<=4"), ("Buffer", "M=2"))
    assert said.code == 1 and "rules1.yaml:1: the temporal" in said.told()
    said = with_rules(tmp_path, ("DRAM", "M=4"), ("Buffer", "M=4"))
    assert said.code == 3
    assert "rules0.yaml:1" in said.told() and "rules1.yaml:1" in said.told()
    said = with_rules(tmp_path, ("DRAM", "M=2"), ("DRAM", "M=4"))
    assert said.code == 3 and "contradicts" in said.told()


def test_a_scale_of_an_unknown_tensor(tmp_path):
    arch = tmp_path / "arch.yaml"
    arch.write_text(MACHINE.format(
        ", per_dataspace_bandwidth_consumption_scale: {Weights: 2}"))
    said = tool.evaluate("--arch", arch)
    assert said.code == 3
    assert "arch.yaml:4:" in said.told()
    assert "no tensor 'Weights'" in said.told()
