"""The installed package: what it needs, and what it carries."""
import importlib.metadata
import importlib.util
import pathlib
import subprocess
import sys

import calm

PACKAGE = pathlib.Path(importlib.util.find_spec("calm").origin).parent


def test_it_needs_nothing_of_the_system_but_libc_and_libm():
    needed = subprocess.run(["ldd", str(PACKAGE / "_calm.abi3.so")], capture_output=True,
                            text=True, check=True).stdout
    foreign = [line.split()[0] for line in needed.splitlines()
               if str(PACKAGE) not in line
               and line.split()[0] not in ("libc.so.6", "libm.so.6", "linux-vdso.so.1")
               and "ld-linux" not in line.split()[0]]
    assert foreign == [], needed


def test_it_is_typed_and_has_a_version():
    assert (PACKAGE / "py.typed").exists()
    assert importlib.metadata.version("calm") == calm.__version__


def test_importing_it_loads_neither_numbers_nor_pictures():
    loaded = subprocess.run(
        [sys.executable, "-c", "import calm, sys; print(*sys.modules)"],
        capture_output=True, text=True, check=True).stdout.split()
    for heavy in ("numpy", "onnx", "distributed", "typing_extensions"):
        assert heavy not in loaded


def test_everything_public_is_described():
    for name in calm.__all__:
        thing = getattr(calm, name)
        assert thing.__doc__, name
        for member, value in vars(thing).items() if isinstance(thing, type) else ():
            if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                described = getattr(value, "__doc__", None) or getattr(
                    getattr(thing.__mro__[1], member, None), "__doc__", None)
                assert described, f"{name}.{member}"
