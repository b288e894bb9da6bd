"""What goes wrong is an exception of Python's own kind, with the library's words."""
import calm
import pytest

from conftest import ARCH, GRAPH, LAYER, SMALL


@pytest.mark.parametrize("kind, builtin", [
    (calm.OutOfMemory, MemoryError), (calm.UsageError, ValueError),
    (calm.InputError, ValueError), (calm.UnsupportedError, NotImplementedError),
    (calm.FileError, OSError), (calm.InternalError, RuntimeError)])
def test_kinds(kind, builtin):
    assert issubclass(kind, calm.Error) and issubclass(kind, builtin)


def test_files():
    with pytest.raises(OSError, match="nowhere.cg: cannot open"):
        calm.plan("nowhere.cg")
    with pytest.raises(calm.FileError):
        calm.plan("/")
    with pytest.raises(calm.FileError):
        calm.pack("nowhere.csv")
    with pytest.raises(calm.FileError):
        calm.map(LAYER, "nowhere.yaml")
    with pytest.raises(ValueError, match="null"):
        calm.plan("a\0b")


def test_malformed_input():
    for broken in (b"", b"nonsense", SMALL.replace(b"op one", b"op two"), b"\xff" * 100,
                   SMALL[:-30]):
        with pytest.raises(calm.InputError):
            calm.plan(broken)
    with pytest.raises(calm.InputError, match="mine:5:"):
        calm.plan(SMALL.replace(b"tensor b 70", b"tensor b -70"), name="mine")
    with pytest.raises(calm.InputError):
        calm.map({"problem": 3}, ARCH)
    with pytest.raises(calm.InputError):
        calm.check(GRAPH, {})


def test_what_is_no_file():
    for given in (7, None, object(), 1.5):
        with pytest.raises(TypeError, match="is no file"):
            calm.plan(given)


def test_options():
    with pytest.raises(TypeError, match="did you mean order"):
        calm.plan(SMALL, ordr="dp")
    with pytest.raises(TypeError, match="belongs to map"):
        calm.plan(SMALL, mapper="exact")
    with pytest.raises(TypeError, match="has no option"):
        calm.pack([], banana=1)
    with pytest.raises(calm.UsageError, match="order: 'best' is not one of"):
        calm.plan(SMALL, order="best")
    with pytest.raises(ValueError, match="threads"):
        calm.plan(SMALL, threads=-1)
    with pytest.raises(ValueError, match="time-limit"):
        calm.plan(SMALL, time_limit=float("nan"))


def test_options_take_what_python_has():
    assert calm.plan(SMALL, budget=2**40, time_limit=0.5, order=None).within_budget
    chosen = calm.plan(SMALL, inplace=["relu", "add"]).to_dict()["columns"]["inplace"]
    assert sorted(chosen) == ["add", "relu"]
    assert calm.plan(SMALL, onchip=[64, 128]).to_dict()["traffic"]


def test_a_failure_leaves_nothing_behind():
    before = calm.plan(SMALL).to_json()
    for _ in range(50):
        with pytest.raises(calm.Error):
            calm.plan(SMALL[:-30])
    assert calm.plan(SMALL).to_json() == before
