"""Buffers that bench/frontier places: do they hold what their names promise, and
does the check of placements find what is wrong?"""
import hashlib
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench")]
sys.dont_write_bytecode = True

import layout_buffers as buffers        # noqa: E402
import layout_check                     # noqa: E402
from layout_check import Row            # noqa: E402


def load(found):
    """Bytes in use between each two times at which something changes."""
    times = sorted({t for row in found for t in row[:2]})
    return [sum(row[2] for row in found if row[0] <= t < row[1])
            for t in times[:-1]]


def first_fit(found):
    """The arena if each goes to the lowest free offset, one after the other."""
    placed = []
    for lower, upper, size in found:
        at = 0
        for low, high in sorted((low, high) for low, high, begin, end in placed
                                if begin < upper and lower < end):
            if low >= at + size:
                break
            at = max(at, high)
        placed.append((at, at + size, lower, upper))
    return max(high for _, high, _, _ in placed)


class Buffers(unittest.TestCase):
    def test_the_same_on_any_machine(self):
        for found, digest in (
                (buffers.cuts(154, 1 << 20, 0), "2bde34b0ec7a"),
                (buffers.cuts(213, 24, 2, left_out=0.03), "afce91dc62e5"),
                (buffers.full(40, 30, 12, 1), "c021983334ad"),
                (buffers.training(250, 0), "24d929b1e358"),
                (buffers.inference(1000, 0), "058568475691"),
                (buffers.tricky(5, 64, 0)[0], "e7d3bcbef6eb"),
                (buffers.mixed(60, 40, 0), "1a51e9f793d6")):
            text = buffers.text(found).encode()
            self.assertEqual(hashlib.sha256(text).hexdigest()[:12], digest)

    def test_cuts_leave_no_gap(self):
        for count, steps in ((154, 1 << 20), (213, 24), (409, 60)):
            found = buffers.cuts(count, steps, 5)
            self.assertEqual(len(found), count)
            self.assertEqual(set(load(found)), {1 << 20})
        self.assertLess(len(buffers.cuts(409, 60, 5, left_out=0.1)), 409)

    def test_full_steps_are_all_full(self):
        for seed in range(20):
            self.assertEqual(len(set(load(buffers.full(24, 18, 8, seed)))), 1)

    def test_large_ones_are_large(self):
        self.assertGreater(len(buffers.training(15500, 2)), 60_000)
        self.assertEqual(len(buffers.inference(28_000, 1, 200)), 28_000)

    def test_tricky_needs_more_than_is_in_use(self):
        orders = itertools.permutations(buffers.TRICKY)
        self.assertEqual(min(map(first_fit, orders)), 5)
        self.assertEqual(max(load(buffers.TRICKY)), 4)
        for seed in range(10):
            found, least = buffers.tricky(4, 30, seed)
            self.assertLess(max(load(found)), least)

    def test_mixed_has_everything(self):
        found = buffers.mixed(200, 100, 0)
        self.assertEqual({row[3] for row in found}, {1, 4, 16, 64, 256})
        fixed = {row[5]: row for row in found if row[5] is not None}
        self.assertEqual(len(fixed), 10)
        self.assertTrue(all(at % row[3] == 0 for at, row in fixed.items()))
        members = [row for row in found if row[4]]
        self.assertTrue(any(a[4] == b[4] and a[1] < b[0]
                            for a, b in zip(members, members[1:])))


def overlapping(rows, offsets):
    """By pairs: does any lie on another?"""
    return any(
        a.lower < b.upper and b.lower < a.upper
        and max(a.lower, b.lower) < min(a.upper, b.upper)
        and max(offsets[a.id], offsets[b.id])
        < min(offsets[a.id] + a.size, offsets[b.id] + b.size)
        and (not a.group or a.group != b.group)
        for a, b in itertools.combinations(rows, 2))


class Check(unittest.TestCase):
    def test_against_all_pairs(self):
        draw, seen = random.Random(1), set()
        for _ in range(4000):
            rows, offsets, groups = [], {}, {}
            for i in range(draw.randint(1, 7)):
                lower = draw.randint(0, 6)
                group = draw.choice(("", "", "", "a", "b"))
                rows.append(Row(str(i), lower, lower + draw.randint(0, 4),
                                draw.randint(0, 4), 1, group, None))
                at = draw.randint(0, 24)
                offsets[str(i)] = groups.setdefault(group, at) if group else at
            wrong = overlapping(rows, offsets)
            seen.add(wrong)
            self.assertEqual(bool(layout_check.fault(rows, offsets)), wrong)
        self.assertEqual(seen, {True, False})

    def test_what_a_row_asks_for(self):
        one = Row("x", 0, 2, 8, 16, "g", 32)
        two = Row("y", 5, 6, 8, 1, "g", None)
        self.assertEqual(layout_check.fault([one, two], {"x": 32, "y": 32}, 40),
                         "")
        for offsets, arena in (({"x": 32}, None), ({"x": 24, "y": 24}, None),
                               ({"x": 48, "y": 48}, None), ({"x": -16}, None),
                               ({"x": 32, "y": 33}, None),
                               ({"x": 32, "y": 32}, 41)):
            self.assertTrue(layout_check.fault([one, two], offsets, arena))


class Placed(unittest.TestCase):
    """What the tool makes of them is valid, and the least where it is known."""

    def pack(self, found):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "buffers.csv")
            path.write_text(buffers.text(found))
            done = subprocess.run(
                [os.environ["CALM"], "pack", path, "--json", "--quiet",
                 "--time-limit", "0", "--tick-limit", "2000000"],
                stdout=subprocess.PIPE, check=True)
            placed = json.loads(done.stdout)
            offsets = {row["id"]: row["offset"] for row in placed["buffers"]}
            self.assertEqual(layout_check.fault(
                layout_check.read(path), offsets, placed["arena_bytes"]), "")
        return placed["bound_bytes"], placed["arena_bytes"]

    def test_tricky(self):
        for seed in range(3):
            found, least = buffers.tricky(3, 50, seed)
            self.assertEqual(self.pack(found), (least, least))

    def test_others(self):
        for found in (buffers.mixed(30, 24, 0), buffers.mixed(60, 40, 1),
                      buffers.full(24, 18, 8, 0), buffers.cuts(60, 1000, 0)):
            bound, arena = self.pack(found)
            self.assertLessEqual(bound, arena)


if __name__ == "__main__":
    unittest.main()
