"""The tool under test, `calm`: found in $CALM, else in build/release."""
import functools
import json
import os
import subprocess

import pytest

import models

CALM = os.environ.get("CALM", str(models.ROOT / "build/release/calm"))
SECONDS = 120
# A search that is not over after this goes on with the best it has.
LIMITS = ("--time-limit", "10")


def call(*arguments):
    """Run the tool; the finished process with its text."""
    return subprocess.run([CALM, *map(str, arguments)], capture_output=True,
                          text=True, timeout=SECONDS)


def facts(*arguments):
    """The JSON object that the tool prints; it must exit with 0."""
    done = call(*arguments, "--json")
    assert done.returncode == 0, (
        f"calm {' '.join(map(str, arguments))}: exit {done.returncode}: "
        f"{done.stderr.strip()}")
    return json.loads(done.stdout)


def plan(model, *options):
    """Plan a model; the facts of `calm plan`."""
    return facts("plan", model, *LIMITS, *options)


def write(model, out, *options):
    """Plan a model and write it; the facts of `calm plan`."""
    need("plan", "-o")
    return plan(model, "-o", out, *options)


@functools.cache
def help_text(verb):
    return call(verb, "--help").stdout


def has(verb, word):
    """Does the help of a verb know a word?  --[no-]NAME is --no-NAME, too."""
    text = help_text(verb)
    words = text.replace(",", " ") + text.replace("--[no-]", "--no-")
    return word in words.split()


def need(verb, *words):
    """Skip a test of what this build of the tool cannot do yet."""
    missing = [word for word in words if not has(verb, word)]
    if missing:
        pytest.skip(f"calm {verb} has no {' '.join(missing)}")


@functools.cache
def reads_onnx():
    done = call("inspect", models.light_models()[0])
    return "does not read" not in done.stderr


def need_onnx():
    """Skip a test of a build that does not read .onnx files."""
    if not reads_onnx():
        pytest.skip("calm does not read .onnx files yet")
