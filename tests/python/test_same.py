"""The JSON of the package and of the command line: the same bytes."""
import calm
import pytest

from conftest import ARCH, GRAPH, KEEP, LAYER, NEST


def words(options):
    """Keywords as the command line spells them."""
    for name, value in options.items():
        for item in value if isinstance(value, list) else [value]:
            word = ("off", "on")[item] if isinstance(item, bool) else item
            yield f"--{name.rstrip('_').replace('_', '-')}={word}"


PLANS = [
    {}, {"rewrite": "auto"}, {"rewrite": "all", "partials": "add-copy"},
    {"memory": "serenity"}, {"memory": "tflm"}, {"memory": "litert"}, {"memory": "ort"},
    {"order": "dp", "count": True}, {"order": "greedy", "layout": "greedy"},
    {"order": "file", "layout": "size"}, {"align": 16, "round": 16},
    {"inplace": "relu,add"}, {"onchip": "64K,128K"}, {"budget": "100K"}, {"threads": 2},
    {"onchip": "128K", "minimize": "traffic", "time_limit": 10, "tick_limit": 100000},
]


@pytest.mark.parametrize("options", PLANS, ids=str)
def test_plan(tool, options):
    line = tool("plan", GRAPH, "--json", *words(options))
    assert calm.plan(GRAPH, **options).to_json().encode() == line


@pytest.mark.parametrize("options", [{}, {"memory": "tflm"}, {"onchip": "64K"}], ids=str)
def test_inspect(tool, options):
    line = tool("inspect", GRAPH, "--json", *words(options))
    assert calm.inspect(GRAPH, **options).to_json().encode() == line


def test_check(tool, tmp_path):
    kept = tmp_path / "plan.json"
    calm.plan(GRAPH).save(kept)
    line = tool("check", GRAPH, kept, "--json")
    assert calm.check(GRAPH, kept).to_json().encode() == line


@pytest.mark.parametrize("options", [{}, {"layout": "greedy"}, {"budget": 10}], ids=str)
def test_pack(tool, tmp_path, options):
    buffers = tmp_path / "buffers.csv"
    buffers.write_text("id,lower,upper,size\n0,0,3,8\n1,1,4,16\n2,3,6,8\n3,0,6,4\n")
    line = tool("pack", buffers, "--json", *words(options))
    assert calm.pack(buffers, **options).to_json().encode() == line


@pytest.mark.parametrize("options", [
    {}, {"cost": "timeloop"}, {"energy": False}, {"links": "GlobalBuffer=1"},
    {"set": "GlobalBuffer.entries=32768"}], ids=str)
def test_evaluate(tool, options):
    line = tool("eval", "--arch", ARCH, "--problem", LAYER, "--mapping", NEST, "--json",
                *words(options))
    assert calm.evaluate(ARCH, LAYER, NEST, **options).to_json().encode() == line


@pytest.mark.parametrize("options", [
    {}, {"objective": "delay"}, {"objective": "pareto"}, {"bypass": "search"},
    {"mapper": "random", "valid": 20, "seed": 3}, {"explain": True}], ids=str)
def test_map(tool, options):
    line = tool("map", "--arch", ARCH, "--constraints", KEEP, "--problem", LAYER, "--json",
                *words(options))
    found = calm.map(LAYER, ARCH, constraints=KEEP, **options)
    assert found.to_json().encode() == line


def test_map_of_a_model(tool):
    line = tool("map", "--arch", ARCH, "--constraints", KEEP, GRAPH, "--json", "--objective",
                "energy", "--bypass", "search", "--time-limit", "0", "--tick-limit", "100000")
    found = calm.map(GRAPH, ARCH, constraints=KEEP, objective="energy", bypass="search",
                     time_limit=0, tick_limit=100000)
    assert found.to_json().encode() == line


MODELS = ["tflite", "onnx"]


@pytest.mark.parametrize("ending", MODELS)
def test_real_models(tool, case, ending):
    models = sorted(case("models").rglob(f"*.{ending}"), key=lambda path: path.stat().st_size)
    if not models:
        pytest.skip(f"there is no .{ending} among the cases")
    for model in models[:6]:
        line = tool("plan", model, "--json", "--time-limit", "0", "--tick-limit", "200000")
        assert calm.plan(model, time_limit=0, tick_limit=200000).to_json().encode() == line


def test_report_is_the_page_of_the_command_line(tool, tmp_path):
    kept = tmp_path / "plan.json"
    kept.write_bytes(tool("plan", GRAPH, "--json"))
    assert calm.report(kept).html.encode() == tool("report", kept)
    assert calm.plan(GRAPH).report(title=str(kept)).html.encode() == \
        tool("report", kept).replace(f'"name":"{kept}"'.encode(), f'"name":"{GRAPH}"'.encode())
