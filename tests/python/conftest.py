"""What the tests of the Python package share.  It is tested as it is installed in
build/venv-python (scripts/python-tests), beside the tool that was built."""
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
TOOL = os.environ.get("CALM", str(ROOT / "build/release/calm"))
CASES = pathlib.Path(os.environ.get("CALM_CASES", ROOT.parent / "shared/cases"))

ARCH = EXAMPLES / "simba-like.yaml"
KEEP = EXAMPLES / "simba-like-keep.yaml"
LAYER = EXAMPLES / "resnet50-3x3-56.yaml"
NEST = EXAMPLES / "mapping.yaml"
GRAPH = EXAMPLES / "swiftnet.cg"

SMALL = b"""calm-graph 1
graph small
tensor x 100 input
tensor a 50
tensor b 70
tensor y 10 output
op one opaque ( x ) -> ( a )
op two opaque ( x ) -> ( b )
op three opaque ( a b ) -> ( y )
"""


def hard_graph(operators=240):
    """A graph whose order takes long: each operator after two others."""
    lines = ["calm-graph 1", "graph hard", "tensor t0 1 input"]
    seed = 12345
    for i in range(1, operators + 1):
        lines.append(f"tensor t{i} {1 + i * 7 % 5}" + " output" * (i == operators))
    for i in range(1, operators + 1):
        seed = seed * 16807 % 2147483647
        a = seed % min(i, 120)
        seed = seed * 16807 % 2147483647
        b = seed % min(i, 60)
        lines.append(f"op o{i} opaque ( t{i - 1 - a} t{i - 1 - b} ) -> ( t{i} )")
    return ("\n".join(lines) + "\n").encode()


@pytest.fixture(scope="session")
def tool():
    """The command line: its stdout."""
    def run(*words):
        done = subprocess.run([TOOL, *map(str, words)], capture_output=True, check=False)
        assert done.returncode in (0, 1), done.stderr.decode()
        return done.stdout
    return run


@pytest.fixture(scope="session")
def case():
    """A file of the public cases; the test is skipped where they are not."""
    def find(name):
        path = CASES / name
        if not path.exists():
            pytest.skip(f"the public cases are not here: {name}")
        return path
    return find
