"""Random nests on every machine of the golden set, also those without records:
both cost models against the reference model that comes with the set.

One figure of that model is not always Timeloop's: it adds up routers in another
order of groups than Timeloop's, which is ascending, and cuts off fractions in
between.  With imperfect factors and bypass it may be one router away; the nests
drawn here have no such case.
"""
import random

import pytest

import figures
import goldens
import nests
import tool

DRAWS = 60
LEAST = 30
MOST_ITERATIONS = 100000


def machines():
    return sorted(path.stem for path in (goldens.FOLDER / "arch").glob("*.yaml"))


def problems():
    """{name: bounds and strides}, of all records."""
    return {record["problem_name"]: record["problem"]
            for path in goldens.files() for record in goldens.records(path)}


def predictions(record):
    """{cost model: what the reference model says}"""
    model, arch = goldens.reference(), goldens.machine(record["arch"])
    if goldens.imperfect(record):
        return {"timeloop": model.predict_imp(record, arch, "default", True),
                "exact": model.predict_imp(record, arch, "full", False)}
    return {"timeloop": model.predict(record, arch, "default", model.accesses),
            "exact": model.predict(record, arch, "full", model.closed2)}


def fits(record, predicted):
    """Do the tiles fit the levels?"""
    for level in goldens.machine(record["arch"])["levels"]:
        tiles = predicted["L"][level["name"]]["t"].values()
        if level["cap"] and sum(tile["tile"] for tile in tiles) > level["cap"]:
            return False
    return True


def expected_of(record, cost, predicted):
    expected = goldens.of_predicted(predicted, record)
    if cost == "exact" and goldens.imperfect(record):
        # calm counts true products there, and what follows from them.
        for key in ("computes", "utilization", "energy_pj"):
            del expected[key,]
    return expected


def judge(record):
    """(was it compared, what is wrong)"""
    if goldens.imperfect(record) and (
            goldens.iterations(record) > MOST_ITERATIONS):
        return False, []
    lines = []
    for cost, predicted in predictions(record).items():
        answer = goldens.evaluate(record, "--cost", cost)
        if not fits(record, predicted):
            if answer.code != 1 or answer.report["fault"] != "capacity":
                lines.append(f"should not fit: exit {answer.code}, "
                             f"{answer.told()}")
        elif answer.code:
            lines.append(f"exit {answer.code}: {answer.told()}")
        else:
            lines += figures.differences(
                figures.of_report(answer.report),
                expected_of(record, cost, predicted))
    return answer.code == 0, lines and [record["mapping_yaml"], *lines[:3]]


@pytest.mark.parametrize("arch", machines() or [pytest.param(
    "-", marks=pytest.mark.skip(reason="the public cases are not there"))])
def test_random_nests(arch):
    generator, bounds = random.Random(f"nests {arch}"), problems()
    drawn = [nests.draw(generator, arch, name, bounds[name])
             for name in generator.choices(sorted(bounds), k=DRAWS)]
    results = tool.side_by_side(judge, drawn)
    assert [lines for _, lines in results if lines] == []
    assert sum(compared for compared, _ in results) >= LEAST
