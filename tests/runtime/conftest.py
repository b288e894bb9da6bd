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
    in MODELS; without files there is one test, which is skipped."""
    if "model" in metafunc.fixturenames:
        paths = metafunc.module.MODELS
        metafunc.parametrize("model", paths, ids=[p.stem for p in paths])
