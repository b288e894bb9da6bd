"""The quality record: does bench/run say what got better, and what got worse?

Rows side by side first; then the tool itself, held against a record in which
figures have been altered by hand.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from dataclasses import replace

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench")]
sys.dont_write_bytecode = True

import run_record       # noqa: E402
from run_record import Row, judge   # noqa: E402

PROVED = Row("a/net.cg", "memory=plain", "peak_bytes", "exact", 100, 100,
             "optimal", 7, 90)
OPEN = replace(PROVED, value=120, bound=80, status="feasible")
GIVEN = Row("a/net.cg", "memory=plain", "peak_bytes", "file", 150)


class Judging(unittest.TestCase):
    def check(self, old, new, kind):
        self.assertEqual(judge(old, new), kind)

    def test_nothing_differs(self):
        for row in (PROVED, OPEN, GIVEN):
            self.check(row, row, None)

    def test_value(self):
        self.check(OPEN, replace(OPEN, value=119), "better")
        self.check(OPEN, replace(OPEN, value=121), "worse")

    def test_bound(self):
        self.check(OPEN, replace(OPEN, bound=81), "better")
        self.check(OPEN, replace(OPEN, bound=79), "worse")
        self.check(OPEN, replace(OPEN, bound=None), "worse")
        self.check(OPEN, replace(OPEN, value=90, bound=79), "worse")

    def test_proof(self):
        self.check(OPEN, PROVED, "better")
        self.check(PROVED, OPEN, "worse")
        self.check(PROVED, replace(PROVED, status="feasible"), "worse")

    def test_effort(self):
        self.check(PROVED, replace(PROVED, states=8), "effort")
        self.check(PROVED, replace(PROVED, ticks=1), "effort")
        self.check(PROVED, replace(PROVED, ticks=1, value=101), "worse")

    def test_what_cannot_be(self):
        self.check(PROVED, replace(PROVED, value=99, bound=99), "contradicted")
        self.check(OPEN, replace(OPEN, value=79, bound=70), "contradicted")
        self.check(PROVED, replace(PROVED, value=101, bound=101),
                   "contradicted")

    def test_refusals(self):
        refused = Row(*PROVED.key, status=run_record.REFUSED)
        self.check(PROVED, refused, "worse")
        self.check(refused, PROVED, "better")
        self.check(refused, refused, None)

    def test_what_is_given_is_no_merit(self):
        self.check(GIVEN, replace(GIVEN, value=140), "changed")
        self.check(GIVEN, replace(GIVEN, value=160), "changed")

    def test_rounding_is_no_difference(self):
        energy = replace(OPEN, value=0.3, bound=0.1)
        self.check(energy, replace(energy, value=0.1 + 0.2), None)
        self.check(energy, replace(energy, value=0.3 + 1e-9), "worse")


class Records(unittest.TestCase):
    def setUp(self):
        other = replace(PROVED, model="b/net.cg")
        self.before = {row.key: row for row in (PROVED, GIVEN, other)}

    def test_new_and_gone(self):
        new = replace(PROVED, method="dp")
        after = {row.key: row for row in (PROVED, new)}
        found = run_record.compare(self.before, after,
                                   lambda row: row.home == "a")
        self.assertEqual(found["new"],
                         ["a/net.cg memory=plain peak_bytes dp: 100"])
        self.assertEqual(found["gone"],
                         ["a/net.cg memory=plain peak_bytes file: 150"])
        self.assertFalse(run_record.failed(found))
        self.assertEqual(run_record.summary(found, after),
                         "2 figures: 1 new, 1 gone")

    def test_lines(self):
        worse = replace(PROVED, value=110, status="feasible")
        found = run_record.compare(self.before, {worse.key: worse},
                                   lambda row: False)
        self.assertEqual(found["worse"], [
            "a/net.cg memory=plain peak_bytes exact: value 100 -> 110 (+10 %), "
            "status optimal -> feasible"])
        self.assertTrue(run_record.failed(found))

    def test_a_file_holds_all(self):
        rows = [PROVED, OPEN, GIVEN, Row(*PROVED.key, status="refused"),
                replace(OPEN, value=6356433008300.382, bound=0.1)]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "record.csv")
            for row in rows:
                run_record.write(path, [row])
                self.assertEqual(run_record.read(path), {row.key: row})

    def test_a_part_is_put_in_its_place(self):
        keys = list(self.before)
        again = replace(GIVEN, value=1)
        merged = run_record.merge(self.before, {again.key: again}, [keys[0]])
        self.assertEqual(merged, [again, self.before[keys[2]]])


class Running(unittest.TestCase):
    """Small networks rewritten, against a record of a moment ago."""

    WORD = "rewrite=auto"
    PLANNED = "memory=serenity rewrite=auto"

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.record = pathlib.Path(cls.folder.name, "record.csv")
        assert cls.run_bench(cls, "--write") == 0
        cls.rows = list(run_record.read(cls.record).values())

    def setUp(self):
        run_record.write(self.record, self.rows)

    def run_bench(self, *arguments):
        done = subprocess.run(
            [sys.executable, ROOT / "bench/run", "--record", self.record,
             "--tool", os.environ.get("CALM", ROOT / "build/release/calm"),
             *arguments, self.WORD], capture_output=True, text=True)
        assert done.stderr == "", done.stderr
        self.output = done.stdout
        return done.returncode

    def alter(self, part, **changes):
        """Rows whose names have this in them, as they were not."""
        altered = [replace(row, **changes) if part in row.name else row
                   for row in self.rows]
        self.assertNotEqual(altered, self.rows)
        run_record.write(self.record, altered)
        self.rows = altered

    def last(self):
        return self.output.splitlines()[-1]

    def test_as_kept(self):
        self.assertEqual(self.run_bench(), 0)
        self.assertTrue(self.last().endswith(": all as kept"), self.last())
        self.assertNotIn("\n  ", self.output)

    def test_what_was_proved_is_undercut(self):
        self.alter("cell_a.cg memory=serenity rewrite=auto arena_bytes exact",
                   value=188000, bound=188000)
        self.assertEqual(self.run_bench(), 1)
        self.assertTrue(self.last().endswith(": 1 contradicted"), self.last())
        self.assertIn("value 188000 -> 188160", self.output)
        self.assertEqual(self.run_bench("--write"), 0)
        self.assertEqual(self.run_bench(), 0)

    def test_better_and_effort(self):
        self.alter("cell_a.cg memory=serenity rewrite=auto arena_bytes exact",
                   value=190000, bound=180000, status="feasible")
        self.alter("cell_b.cg memory=serenity rewrite=auto peak_bytes exact",
                   ticks=1)
        self.assertEqual(self.run_bench(), 0)
        self.assertIn(
            "\nbetter:\n  tests/swiftnet_cell_a.cg memory=serenity rewrite=auto "
            "arena_bytes exact: value 190000 -> 188160", self.output)
        self.assertTrue(self.last().endswith(": 1 better, 1 effort"),
                        self.last())

    def test_new_gone_and_not_run(self):
        names = [("tests/z.cg", self.PLANNED), ("tests/z.cg", "memory=plain"),
                 ("nowhere/z.cg", self.PLANNED)]
        away = [replace(self.rows[0], model=model, options=options)
                for model, options in names]
        run_record.write(self.record, [*away, *self.rows[1:]])
        self.assertEqual(self.run_bench(), 0)
        self.assertTrue(self.last().endswith(": 1 new, 1 gone"), self.last())
        self.run_bench("--write")
        kept = {(row.model, row.options)
                for row in run_record.read(self.record).values()}
        self.assertEqual([name in kept for name in names],
                         [False, True, True])
        self.assertEqual(self.run_bench(), 0)


if __name__ == "__main__":
    unittest.main()
