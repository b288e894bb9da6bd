"""What is promised of known networks in TensorFlow Lite Micro, to the byte."""
import numpy
import pytest

import checks
import models
import runtimes
import tool

IN_PLACE = ("--kernels", "reference")
# Model, options, head before, head after (or less).
FIGURES = [
    ("mlperf_vww_96_int8", (), 73728, 55296),
    ("mlperf_vww_96_float", (), 294912, 221184),
    ("mltk_keyword_spotting_on_off_v3", (), 21568, 19616),
    ("litert_topo_sort_interleaved", (), 64, 48),
    ("litert_multi_signature", (), 2400, 1200),
    ("litert_torchaudio_conformer", IN_PLACE, 38069408, 22257408),
    ("litert_rope", IN_PLACE, 1036800, 832000),
]
SWIFTNET = models.CASES / "models/swiftnet_vwwc19_uint8.tflite"


@pytest.mark.parametrize("name, options, before, after", FIGURES,
                         ids=[row[0] for row in FIGURES])
def test_head(name, options, before, after, tmp_path):
    model = models.CASES / f"models/{name}.tflite"
    if not model.exists():
        pytest.skip("no public cases")
    tool.need("plan", "-o", *options[:1])
    out = tmp_path / model.name
    planned = tool.write(model, out, *options)
    checks.assert_same(model, out, planned)
    assert runtimes.tflm(model)["head"] == before
    assert runtimes.tflm(out)["head"] <= after


def write_int8(out, *options):
    if not SWIFTNET.exists():
        pytest.skip("no public cases")
    tool.need("plan", "-o", "--to-int8")
    return tool.write(SWIFTNET, out, "--to-int8", *options)


def test_swiftnet_as_int8(tmp_path):
    """SwiftNet runs once it is int8, in file order and in calm's."""
    twin, out = tmp_path / "twin.tflite", tmp_path / "out.tflite"
    write_int8(twin, "--order", "file", "--no-offline-plan")
    planned = write_int8(out)
    checks.assert_same(twin, out, planned)
    assert runtimes.tflm(twin)["head"] == 376320
    assert runtimes.tflm(out)["head"] <= 301056


def test_swiftnet_equals_its_twin(tmp_path):
    """Every tensor of the twin is the original's, less 128."""
    twin = tmp_path / "twin.tflite"
    write_int8(twin, "--order", "file", "--no-offline-plan")
    before, after = (runtimes.litert_values(path) for path in (SWIFTNET, twin))
    assert before.keys() == after.keys()
    different = [index for index, array in before.items() if not
                 numpy.array_equal(array.astype(int) - 128, after[index])]
    assert not different


def test_swiftnet_without_noops(tmp_path):
    """Its first operator is a split into one part, which only copies."""
    tool.need("plan", "--remove-noops")
    twin, out = tmp_path / "twin.tflite", tmp_path / "out.tflite"
    write_int8(twin, "--order", "file", "--no-offline-plan")
    planned = write_int8(out, "--remove-noops")
    checks.assert_same(twin, out, planned)
    assert runtimes.tflm(out)["head"] <= 275968
