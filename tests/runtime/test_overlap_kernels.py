"""The distances of the reference kernels in TensorFlow Lite Micro, operator by
operator: nothing changes at the distance and above, and an element below it
something does.

CALM_OVERLAP_SHAPES says how many shapes of each kind are run.
"""
import os
import pathlib

import pytest

import runtimes
import tool

PROGRAM = pathlib.Path(tool.CALM).parent / "tests/kernel_distances"
SHAPES = int(os.environ.get("CALM_OVERLAP_SHAPES", "6"))
SECONDS = 60 + 10 * SHAPES


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_distances(dtype):
    if not PROGRAM.exists():
        pytest.skip("the tests of this build are not there")
    kinds = runtimes.start("run_overlaps.py", PROGRAM, "--shapes", SHAPES,
                           "--dtype", dtype, seconds=SECONDS)
    assert "error" not in kinds, kinds["error"]
    for kind, facts in kinds.items():
        assert facts["shapes"] >= SHAPES, kind
        assert facts["safe"] == facts["shapes"], facts["faults"]
        assert facts["wrong"] == facts["below"], facts["faults"]
    print(f"{dtype}: {sum(f['shapes'] for f in kinds.values())} operators "
          f"safe, {sum(f['wrong'] for f in kinds.values())} wrong below")
