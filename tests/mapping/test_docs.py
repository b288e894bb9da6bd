"""The examples of docs/accelerators.md run as they stand."""
import re
import textwrap

import tool

PAGE = tool.ROOT / "docs/accelerators.md"


def examples():
    """The indented blocks of the page, by the key that they begin with."""
    found = {}
    for block in re.findall(r"(?:^    .*\n)+", PAGE.read_text(), re.M):
        text = textwrap.dedent(block)
        found.setdefault(text.split(":")[0], []).append(text)
    return found


def evaluate(folder, *parts):
    paths = []
    for i, text in enumerate(parts):
        paths.append(folder / f"part{i}.yaml")
        paths[-1].write_text(text)
    rules = [word for path in paths[3:] for word in ("--constraints", path)]
    answer = tool.evaluate_files(*paths[:3], *rules)
    assert answer.code == 0, answer.told()
    return answer.report


def test_both_machines_are_one(tmp_path):
    page = examples()
    older, newer = page["architecture"]
    layer, nest = page["problem"][0], page["mapping"][0]
    rules = page["mapspace_constraints"][0]
    spread = nest.replace("Buffer, type: spatial", "PE, type: spatial")
    one = evaluate(tmp_path, older, layer, nest, rules)
    two = evaluate(tmp_path, newer, layer, spread)
    assert spread != nest
    assert one["utilization"] == 1
    for figure in ("cycles", "energy_pj", "utilization"):
        assert one[figure] == two[figure]


def test_a_shape_that_is_written_out(tmp_path):
    page = examples()
    answer = evaluate(
        tmp_path, page["architecture"][0], page["problem"][1],
        "mapping:\n- {target: DRAM, type: temporal, factors: R0 P0 C0 K0}\n")
    assert answer["computes"] == 3 * 16 * 8 * 8
