"""How the tests in this directory get their models."""
import pytest

# Failed assertions in there show their values, too.
pytest.register_assert_rewrite("checks", "tool")


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: left to `make bench-runtimes`")


def pytest_collection_modifyitems(items):
    """Tests of one model run in one process, where results are remembered."""
    for item in items:
        params = item.callspec.params if hasattr(item, "callspec") else {}
        group = params.get("name", params.get("model"))
        if group is not None:
            item.add_marker(pytest.mark.xdist_group(str(group)))


def pytest_generate_tests(metafunc):
    """A test with an argument `model` runs on each file that its module lists
    in MODELS, those in SLOW by `make bench-runtimes` only; without files there
    is one test, which is skipped."""
    if "model" in metafunc.fixturenames:
        slow = getattr(metafunc.module, "SLOW", ())
        metafunc.parametrize("model", [
            pytest.param(path, id=path.stem, marks=[pytest.mark.slow] *
                         (path.stem in slow))
            for path in metafunc.module.MODELS])
