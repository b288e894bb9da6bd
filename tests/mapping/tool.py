"""The tool under test, `calm eval` and `calm map`, and where the public cases are.

The tool is found in $CALM, else in build/release; the cases in $CALM_CASES,
else in ../shared/cases.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALM = os.environ.get("CALM", str(ROOT / "build/release/calm"))
CASES = pathlib.Path(os.environ.get("CALM_CASES",
                                    ROOT / "../shared/cases")) / "mapping"
JOBS = int(os.environ.get("JOBS", "2"))
SECONDS = 60


class Answer:
    """What one run of the tool came to: exit code, report, message."""

    def __init__(self, done):
        self.code = done.returncode
        self.message = done.stderr.strip()
        self.report = json.loads(done.stdout) if done.stdout else {}

    def told(self):
        """The reason for a nest that is not valid, or what was wrong."""
        return self.report.get("reason") or self.message


def run(verb, *arguments):
    """Run a verb of the tool with these arguments."""
    return Answer(subprocess.run(
        [CALM, verb, *map(str, arguments), "--json"], capture_output=True,
        text=True, timeout=SECONDS))


def evaluate(*arguments):
    return run("eval", *arguments)


def evaluate_files(arch, problem, mapping, *options):
    return evaluate("--arch", arch, "--problem", problem, "--mapping", mapping,
                    *options)


def side_by_side(work, items):
    """[work(item) for each item], on all cores."""
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        return list(pool.map(work, items))
