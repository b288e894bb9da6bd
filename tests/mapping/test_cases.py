"""Small cases of our own, figures worked out by hand: cases/*.yaml.

Each is a machine, a layer and a nest, with comments that say what is to come
out and why:

    # expect [exact|timeloop] FIGURE VALUE

FIGURE is a key of figures.py, word by word, or `valid`, `fault`, `reason` of an
invalid nest; without a cost model it holds for both.
"""
import json
import pathlib
import re

import pytest

import figures
import tool

FILES = sorted((pathlib.Path(__file__).parent / "cases").glob("*.yaml"))
COSTS = ("exact", "timeloop")
OF_INVALID = ("valid", "fault", "reason")
PLACES = figures.WHOLE + figures.AT_LEVEL + figures.IN_NETWORK + ("slowdown",)


def expectations(path, cost):
    """{key: value} for a cost model."""
    found = {}
    for words in re.findall(r"(?m)^# expect (.*)$", path.read_text()):
        model, _, rest = words.partition(" ")
        if model in COSTS:
            words = rest
            if model != cost:
                continue
        head, _, rest = words.partition(" ")
        if head in OF_INVALID:
            found[head,] = rest if head != "valid" else json.loads(rest)
            continue
        key, value = re.fullmatch(r"((?:[\w>]+ )+?)([-\d.]+|\[.*\])",
                                  words).groups()
        found[tuple(key.split())] = json.loads(value)
    return found


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_case(path, cost):
    expected = expectations(path, cost)
    said = tool.evaluate("--arch", path, "--cost", cost)
    if ("fault",) in expected:
        assert said.code == 1
        assert {key: said.report[key[0]] for key in expected} == expected
        return
    assert said.code == 0, said.told()
    found = figures.of_report(said.report)
    assert {key for key in expected if key[-1] not in PLACES} == set()
    assert figures.wrong(found, expected) == []


def test_there_are_cases():
    assert len(FILES) >= 12


# ---- The comparison itself ---------------------------------------------------

def changed(value):
    """Nearly the same: another word, or the eighth digit."""
    if isinstance(value, list):
        return value[:-1] if value else [[1, 1, 1]]
    return value + 1 if isinstance(value, int) else value * (1 + 1e-8) + 1e-30


def test_every_difference_is_seen():
    """Each figure of a report, changed a little, is told, and nothing else."""
    said = tool.evaluate("--arch", FILES[0].with_name("virtual.yaml"))
    found = figures.of_report(said.report)
    assert figures.differences(found, found) == [] and len(found) > 100
    for key, value in found.items():
        line, = figures.differences(found, {**found, key: changed(value)})
        assert line.startswith(" ".join(key) + ": ")


def test_surplus_and_missing_tensors_are_seen():
    said = tool.evaluate("--arch", FILES[0].with_name("virtual.yaml"))
    found = figures.of_report(said.report)
    fewer = {key: value for key, value in found.items()
             if key[:2] != ("Register", "Weights")}
    assert figures.differences(found, fewer) == [
        "Register Weights reads: not expected there"]
    assert len(figures.differences(fewer, found)) == len(figures.AT_LEVEL)
