"""Results: what they say, save, and look like."""
import json
import shutil
import subprocess
import sys

import calm
import pytest

from conftest import ARCH, EXAMPLES, GRAPH, KEEP, LAYER, NEST, ROOT, SMALL


def test_plan_has_what_its_json_has():
    plan = calm.plan(GRAPH, rewrite="auto")
    data = plan.to_dict()
    assert plan.arena_bytes == data["layout"]["arena_bytes"]
    assert plan.peak_bytes == data["order"]["peak_bytes"]
    assert plan.peak_bound_bytes == data["order"]["bound_bytes"]
    assert plan.baseline_arena_bytes == data["baseline"]["arena_bytes"]
    assert plan.order_status == data["order"]["status"]
    assert plan.layout_status == data["layout"]["status"]
    assert plan.sequence == data["order"]["sequence"]
    for buffer in data["layout"]["buffers"]:
        assert plan.offsets[buffer["name"]] == buffer["offset"]
    assert plan.within_budget
    assert not calm.plan(GRAPH, budget=1000).within_budget


def test_a_dict_is_the_callers():
    plan = calm.plan(SMALL)
    plan.to_dict()["order"] = None
    assert plan.to_dict()["order"] is not None


def test_models_of_every_form_are_the_same(tmp_path):
    path = tmp_path / "small.cg"
    path.write_bytes(SMALL)
    by_path = calm.plan(path).to_json()
    assert calm.plan(str(path)).to_json() == by_path
    assert calm.plan(SMALL, name="small.cg").to_json() == by_path
    assert calm.plan(bytearray(SMALL), name="small.cg").to_json() == by_path


def test_a_model_proto(tmp_path):
    onnx = pytest.importorskip("onnx")
    value = onnx.helper.make_tensor_value_info
    node = onnx.helper.make_node
    graph = onnx.helper.make_graph(
        [node("Relu", ["x"], ["a"], "one"), node("Sigmoid", ["a"], ["y"], "two")], "g",
        [value("x", 1, [4, 8])], [value("y", 1, [4, 8])])
    model = onnx.helper.make_model(graph)
    plan = calm.plan(model, name="mine.onnx", inputs="until-use", outputs="to-end")
    assert plan.to_dict()["model"] == "mine.onnx"
    assert plan.peak_bytes == 2 * 4 * 8 * 4
    plan.save(tmp_path / "planned.onnx")
    assert [n.name for n in onnx.load(tmp_path / "planned.onnx").graph.node] == ["one", "two"]


def test_a_model_is_saved_and_checks(tmp_path):
    written = tmp_path / "planned.cg"
    calm.plan(SMALL).save(written)
    assert calm.inspect(written).peak_bytes == calm.plan(SMALL).peak_bytes
    with pytest.raises(ValueError, match="which is .cg"):
        calm.plan(SMALL).save(tmp_path / "planned.onnx")


@pytest.mark.parametrize("ending", [".json", ".csv", ".html", ".txt", ".h", ".hpp"])
def test_a_plan_is_saved_as(ending, tmp_path):
    path = tmp_path / f"plan{ending}"
    calm.plan(GRAPH, memory="tflm").save(path)
    assert path.stat().st_size > 100


def test_saving_as_what_there_is_not(tmp_path):
    with pytest.raises(ValueError, match="there are .json, .html, .txt, .csv"):
        calm.plan(SMALL).save(tmp_path / "plan.pdf")
    with pytest.raises(calm.FileError):
        calm.plan(SMALL).save(tmp_path / "no/where.json")
    assert not list(tmp_path.iterdir())


def test_check():
    plan = calm.plan(SMALL)
    verdict = calm.check(SMALL, plan)
    assert verdict and verdict.valid and verdict.faults == []
    data = plan.to_dict()
    for buffer in data["layout"]["buffers"]:
        buffer["offset"] = 0
    verdict = calm.check(SMALL, data)
    assert not verdict
    assert {fault["kind"] for fault in verdict.faults} == {"overlap"}


def test_pack_of_rows():
    rows = [{"id": "a", "lower": 0, "upper": 2, "size": 8},
            {"id": "b", "lower": 1, "upper": 3, "size": 8},
            {"id": "c", "lower": 2, "upper": 4, "size": 8}]
    packing = calm.pack(rows)
    assert (packing.arena_bytes, packing.status, packing.bound_bytes) == (16, "optimal", 16)
    assert not calm.pack(rows, budget=8).within_budget
    with pytest.raises(ValueError, match="same columns"):
        calm.pack([rows[0], {"id": "b"}])
    with pytest.raises(ValueError, match="comma"):
        calm.pack([rows[0] | {"id": "a,b"}])


def test_evaluate_and_map_agree(tmp_path):
    found = calm.map(LAYER, ARCH, constraints=[KEEP])
    [layer] = found.layers
    assert (layer.status, layer.count, layer.reason) == ("optimal", 1, None)
    cost = calm.evaluate(ARCH, layer.problem.encode(), layer.nest.encode())
    assert cost.valid and cost.reason is None
    assert (cost.cycles, cost.energy_pj, cost.edp) == (
        layer.cycles, layer.energy_pj, layer.edp)
    assert cost.utilization == 1 and cost.computes == 115605504
    assert found.total_cycles == layer.cycles
    found.save(tmp_path / "nest.yaml")
    assert (tmp_path / "nest.yaml").read_text() == layer.nest
    found.save(tmp_path / "layers.csv")


def test_yaml_as_dicts():
    layer = {"problem": {"version": 0.3, "shape": "gemm_ABZ",
                         "instance": {"M": 16, "N": 16, "K": 16}}}
    machine = {"arch": {
        "arithmetic": {"name": "MAC", "instances": 1, "word-bits": 8, "energy": 1},
        "storage": [
            {"name": "Buffer", "entries": 64, "instances": 1, "word-bits": 8,
             "vector-access-energy": 1},
            {"name": "DRAM", "technology": "DRAM", "instances": 1, "word-bits": 8,
             "vector-access-energy": 100}]}}
    found = calm.map([layer], machine)
    assert found.layers[0].status == "optimal"
    assert found.layers[0].energy_pj > calm.map(
        layer, machine, set={"Buffer.entries": 512}).layers[0].energy_pj


def test_an_invalid_nest_is_a_result():
    cost = calm.evaluate(ARCH, LAYER, NEST, set={"InputBuffer.entries": 1})
    assert not cost.valid and "InputBuffer" in cost.reason and cost.cycles == 0


def test_the_solver_of_cosa():
    found = calm.map(LAYER, ARCH, constraints=KEEP, mapper="cosa")
    [layer] = found.layers
    if layer.status == "failed":
        pytest.skip(layer.reason)
    assert layer.cycles > 0


def test_representations():
    for result in (calm.plan(GRAPH), calm.inspect(GRAPH), calm.check(GRAPH),
                   calm.evaluate(ARCH, LAYER, NEST), calm.map(LAYER, ARCH, constraints=KEEP),
                   calm.pack([{"id": 0, "lower": 0, "upper": 1, "size": 8}])):
        assert repr(result).startswith(f"<calm.{type(result).__name__} of ")
        assert "\n" not in repr(result)
        assert str(result) == result.table()
        view = result._repr_html_()
        assert view.startswith("<table>") and "<pre>" in view
        assert json.loads(result.to_json()) == result.to_dict()


def test_hostile_names_stay_text():
    graph = SMALL.replace(b" one ", b' "<script>alert(1)</script>" ')
    plan = calm.plan(graph, name="<b>.cg")
    assert "<script>" not in plan._repr_html_() and "<b>" not in plan._repr_html_()
    assert plan.report().html.count("<script>alert") == 0
    assert "<script>" not in plan.report()._repr_html_()


def test_a_report_of_several(tmp_path):
    page = calm.report(calm.plan(GRAPH), calm.plan(GRAPH, rewrite="auto"), title="Both")
    page.save(tmp_path / "both.html")
    assert (tmp_path / "both.html").read_text() == page.html
    assert "<title>Both</title>" in page.html
    with pytest.raises(calm.UsageError):
        calm.report()


def test_the_example_of_the_readme(tmp_path):
    """The block after "In Python" in README.md, as it stands there."""
    text = (ROOT / "README.md").read_text()
    section = text[text.index("## In Python"):]
    block = section[section.index("```python") + len("```python"):]
    code = block[:block.index("```")]
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("200704 optimal\nresnet50-3x3-56 optimal ")
