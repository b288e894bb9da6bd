"""Whole networks from their files, on three machines: every layer, proved.

The sums are those of the networks' own shapes: what they multiply is known
without calm.
"""
import pathlib
import tempfile

import pytest

import mapper_layers
import tool

TICKS = 50_000_000

# Which tensors their levels are for.
MACHINES = {
    "cosa_simba": {"Registers": "Weights", "AccumulationBuffer": "Outputs",
                   "WeightBuffer": "Weights", "InputBuffer": "Inputs",
                   "GlobalBuffer": "Inputs, Outputs"},
    "eyeriss_like": {"psum_spad": "Outputs", "weights_spad": "Weights",
                     "ifmap_spad": "Inputs", "shared_glb": "Inputs, Outputs"},
    "gemmini16": {"Registers": "Weights", "Accumulator": "Outputs",
                  "Scratchpad": "Inputs, Weights"}}

# Layers, different ones, multiplications.
MODELS = {"onnx_light_resnet50.onnx": (54, 24, 4_089_184_256),
          "coral_mobilenet_v1_025_128_uint8.tflite": (28, 20, 13_570_304)}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("model", MODELS)
def test_network(model, machine):
    path = tool.CASES.parent / "models" / model
    arch = tool.CASES / f"goldens/arch/{machine}.yaml"
    if not path.exists() or not arch.exists():
        pytest.skip("the public cases are not there")
    with tempfile.TemporaryDirectory() as folder:
        keeps = pathlib.Path(folder, "keeps.yaml")
        keeps.write_text(mapper_layers.constraints(MACHINES[machine]))
        said = tool.run("map", "--arch", arch, path, "--constraints", keeps,
                        "--tick-limit", TICKS, "--time-limit", 0, "--jobs",
                        tool.JOBS)
    assert said.code == 0, said.told()
    check(said.report, *MODELS[model])


def check(report, count, different, macs):
    layers, total = report["layers"], report["total"]
    assert [layer["name"] for layer in layers
            if layer["status"] != "optimal"] == []
    assert len(layers) == different
    assert sum(layer["count"] for layer in layers) == count
    for key, wanted in (("macs", macs), ("cycles", None),
                        ("energy_pj", None)):
        added = sum(layer["count"] * layer[key] for layer in layers)
        assert total[key] == pytest.approx(added, rel=1e-12)
        assert wanted in (None, added)
    assert total["edp"] == pytest.approx(total["cycles"] * total["energy_pj"])
    assert report["skipped"] == []
