"""Every golden record: all that Timeloop printed, by both cost models."""
import pytest

import goldens
import tool

KINDS = ("timeloop, perfect", "timeloop, imperfect", "timeloop, rejected",
         "exact, perfect, printed", "exact, perfect, reference",
         "exact, imperfect, printed", "exact, imperfect, reference",
         "exact, rejected")
SHOWN = 5


each_file = pytest.mark.parametrize(
    "path", goldens.files() or [pytest.param(None, marks=pytest.mark.skip(
        reason="no golden records: the public cases are not there"))],
    ids=lambda path: path.stem if path else "none")


@pytest.mark.parametrize("kind", KINDS)
@each_file
def test_records(path, kind):
    rows = [row for row in goldens.judged(path) if row[1] == kind]
    if not rows:
        pytest.skip(f"{path.stem} has no such records")
    wrong = [f"{name}: {'; '.join(lines[:SHOWN])}"
             for name, _, lines in rows if lines]
    assert not wrong, (f"{len(wrong)} of {len(rows)} records:\n" +
                       "\n".join(wrong[:SHOWN]))


@each_file
def test_meshes_of_levels(path):
    """Nests that fit the machine as a whole but not the mesh below a level are
    refused where that is asked for, and no others."""
    records = [record for record in goldens.records(path)
               if record["valid"] and not goldens.imperfect(record)]
    wrong = [lines for lines in tool.side_by_side(goldens.misfits_of_levels,
                                                  records) if lines]
    assert wrong == []


def test_mapper_results():
    """What Timeloop's mapper found for three networks, as it judged it."""
    results = goldens.mapper_results()
    if not results:
        pytest.skip("the public cases are not there")
    lines = tool.side_by_side(lambda row: goldens.misfits_of_mapper(row[1]),
                              results)
    assert len(results) > 100
    assert [(row[0], wrong) for row, wrong in zip(results, lines)
            if wrong] == []
