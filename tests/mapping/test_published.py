"""What others have published: the figures of exercises, designs and papers.

Every printed figure is compared, to its digits.  Where it comes from a Timeloop
that had other rules (older.py), the test says which figures these are.
"""
import pathlib
import re

import pytest

import dosa
import figures
import published
import stats
import tool

HERE = pathlib.Path(__file__).parent
RUNS = [*published.exercises(), *published.designs()]

needs_cases = pytest.mark.skipif(not tool.CASES.is_dir(),
                                 reason="the public cases are not there")


@needs_cases
@pytest.mark.parametrize("cost", ("timeloop", "exact"))
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_printed_figures(run, cost):
    count, wrong = published.judge(run, cost)
    assert not wrong, "\n".join(wrong)
    assert count > 40


@needs_cases
@pytest.mark.parametrize("run", [run for run in RUNS if run.window],
                         ids=lambda run: run.name)
def test_only_windows_were_counted_otherwise(run):
    outer, inner = run.window
    words = [f"{outer} Inputs reads: ", f"{inner} Inputs fills: "]
    _, wrong = published.judge(run, then=False)
    allowed = words + [f"{level} Inputs {what}: " for level in run.window
                       for what in ("address_generations", "energy_pj")] + [
                           f"fj {name}: " for name in (*run.window, "Total")
                       ] + ["energy_uj: "]
    assert wrong
    assert [line for line in wrong if not line.startswith(tuple(allowed))] == []


@needs_cases
def test_templates_are_refused():
    run, = (run for run in RUNS if run.name.endswith("fpmac"))
    said = tool.evaluate_files(tool.CASES / run.arch, tool.CASES / run.problem,
                               tool.CASES / run.mapping)
    assert said.code == 3 and "arch.yaml:3:" in said.told()
    assert "template" in said.told()


# ---- timeloop-python ---------------------------------------------------------

def two_levels(folder, line):
    """Its two-level example, with each line `data_width: 8` replaced."""
    base = tool.CASES / "timeloop_python"
    text, count = re.subn(r"(?m)^( *)data_width: 8\n",
                          rf"\1{line}\n" if line else "",
                          (base / "two_level.arch.yaml").read_text())
    assert count == 3
    arch = folder / "arch.yaml"
    arch.write_text(text)
    return tool.evaluate_files(arch, base / "mm.workload.yaml",
                               base / "mapping.yaml", "--cost", "timeloop")


@needs_cases
@pytest.mark.parametrize("line, energy",
                         (("", "19590.9"), ("datawidth: 8", "12979.5")))
def test_two_levels(tmp_path, line, energy):
    """Its authors expect 64 cycles and 19590.9 pJ, which are those of words of
    16 bits: Timeloop does not know the key `data_width` and ignores it."""
    said = two_levels(tmp_path, line)
    assert said.code == 0, said.told()
    assert said.report["cycles"] == 64
    assert stats.shows(energy, said.report["energy_pj"])


@needs_cases
def test_an_attribute_that_nobody_reads_is_refused(tmp_path):
    said = two_levels(tmp_path, "data_width: 8")
    assert said.code == 3
    assert "arch.yaml:12:" in said.told()
    assert "'data_width'" in said.told() and "'datawidth'" in said.told()


# ---- CoSA --------------------------------------------------------------------

BANDWIDTH = ("    bandwidth: 20.0\n", "")


def cosa(folder, edits=()):
    example = HERE / "cosa_example.yaml"
    arch = published.edited("cosa/arch/simba.yaml", edits, folder)
    return tool.evaluate_files(arch, example, example, "--cost", "timeloop")


@needs_cases
def test_cosa_figures(tmp_path):
    """Its Timeloop is from before May 2023: it counts the first fills of
    outputs, its energies are an estimator's and its hops another formula's.
    All else is the same."""
    said = cosa(tmp_path, (BANDWIDTH,))
    assert said.code == 0, said.told()
    found = figures.of_report(said.report)
    assert found["cycles",] == 12544
    for level, tensor, key in [key for key in found if len(key) == 3]:
        if tensor == "Outputs" and key in ("fills", "address_generations") and (
                level != "DRAM"):
            found[level, tensor, key] += found[level, tensor, "partition_words"]
    printed = {
        key: text for key, text in stats.read(
            tool.CASES / "cosa/example_run/timeloop-model.stats.txt").items()
        if key[0] not in ("fj", "energy_pj", "energy_uj") and
        key[-1] not in ("energy_pj", "hops", "compute_energy_pj")}
    assert len(printed) > 150
    assert published.differences(found, printed) == []


@needs_cases
def test_cosa_cycles_with_its_bandwidth(tmp_path):
    """The file as it is: 20 words a cycle, half of them for reads."""
    assert cosa(tmp_path).report["cycles"] == 20481


# ---- DOSA --------------------------------------------------------------------

@needs_cases
def test_dosa():
    """Each row of its data set, by the rules of its Timeloop."""
    rows = dosa.judged()
    assert rows
    assert [words for _, cycles, _, words in rows if not cycles] == []
    assert [words for *_, energy, words in rows if not energy] == []
