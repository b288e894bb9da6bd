"""No nest that others found is better than the exact mapper's.

Of golden records a sample, always the same; `bench/mapper --rivals` takes all.
"""
import tempfile

import pytest

import optima
import published
import tool

ONE_IN = 10
SHOWN = 5

needs_cases = pytest.mark.skipif(not tool.CASES.is_dir(),
                                 reason="the public cases are not there")


def check(rivals):
    rows = [duel for each in tool.side_by_side(optima.duels, rivals)
            for duel in each]
    lost = [str(duel) for duel in rows if duel.lost()]
    assert not lost, f"{len(lost)} of {len(rows)}:\n" + "\n".join(lost[:SHOWN])


@needs_cases
def test_golden_records():
    rivals = [rival for rival in optima.of_goldens()
              if optima.is_drawn(rival, ONE_IN)]
    assert len(rivals) > 20
    check(rivals)


@needs_cases
def test_what_timeloops_mapper_found():
    rivals = [rival for rival in optima.of_timeloop()
              if optima.is_drawn(rival, ONE_IN)]
    assert len(rivals) > 5
    check(rivals)


@needs_cases
@pytest.mark.parametrize("run", list(published.exercises()),
                         ids=lambda run: run.name)
def test_published_nests(run):
    with tempfile.TemporaryDirectory() as folder:
        check([optima.of_tutorial(run, folder)])
