"""Types: as the library's table has it, and as strict as mypy can be."""
import subprocess
import sys

from conftest import ROOT


def test_options_are_those_of_the_table():
    made = subprocess.run([sys.executable, str(ROOT / "python/make/options.py")],
                          capture_output=True, text=True, check=True).stdout
    assert made == (ROOT / "python/calm/options.py").read_text(), \
        "python python/make/options.py > python/calm/options.py"


def test_the_package_is_typed(tmp_path):
    done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path)],
                          cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def judge(tmp_path, code):
    """What mypy says of a program that uses the package."""
    program = tmp_path / "program.py"
    program.write_text("import calm\n" + code)
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"),
         str(program)], cwd=tmp_path, capture_output=True, text=True, check=False)


def test_programs_are_checked(tmp_path):
    good = judge(tmp_path, 'size: int = calm.plan("net.cg", rewrite="auto").arena_bytes\n'
                           'calm.map({"problem": {}}, "a.yaml", objective="energy", jobs=2)\n')
    assert good.returncode == 0, good.stdout
    for wrong in ('calm.plan("net.cg", ordr="dp")', 'calm.plan("net.cg", order="best")',
                  'calm.plan("net.cg", threads="two")', 'x: str = calm.plan("a").peak_bytes'):
        assert judge(tmp_path, wrong + "\n").returncode == 1, wrong
