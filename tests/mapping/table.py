#!/usr/bin/env python3
"""Write docs/cost-measured.md: what calm counts beside what Timeloop printed.

    table.py [FILE]

Evaluates all golden records and published runs with the built tool and puts
down how many are equal in every figure.
"""
import collections
import pathlib
import sys

import dosa
import goldens
import published
import tool

DOCUMENT = tool.ROOT / "docs/cost-measured.md"

HEAD = """# Costs of loop nests, compared

`make bench-mapping` writes this page. calm is the built tool; everything that it
is compared with was printed by Timeloop, or published by others. How things are
counted is in [cost-model.md](cost-model.md).

## Golden records

Loop nests on {machines} machines, evaluated by Timeloop (commit 4cf6d4c, of 2025-03-31)
with all digits. A record counts as equal if every figure is: per level and tensor
tile, partition, instances, clusters, reads, fills, updates, temporal reductions,
address generations and energy; per network fan-out, ingresses, multicast, hops,
links, spatial reductions and energy; cycles and slowdown of each level; cycles,
energy, utilization and computes of the whole. Whole numbers are compared exactly,
others to 1e-9. A rejected record is equal if it is rejected for the same cause,
with the same names and numbers.

- *timeloop*: `--cost timeloop` and what Timeloop prints by default.
- *exact*: `--cost exact` and what Timeloop prints when it runs every iteration,
  without links; where that run is missing, what the reference model that comes with
  the records predicts for it. Nests with imperfect factors and many iterations have
  neither, and are not in the table. There, products are counted as they are; Timeloop
  multiplies an average.

Both with `--fanout cumulative`, as Timeloop checks meshes.
"""

MAPPER = """
What Timeloop's mapper found for 41 layers on cosa_simba by two searches for two
objectives each, of which cycles, energy and utilization were kept: {} equal
(`--cost timeloop`).
"""

PUBLISHED = """
## Published runs

Exercises and designs of Timeloop's authors, with their own tables of energy. All
that their reports print is compared, to the digits printed. The reports are older
than commit a12fff5 of 2025-01-21; before it, a loop that does not move the window
interrupted it, and it was loaded whole. *Windows*: the run has such a loop in
DRAM. The words that this comes to were put in, from the older rule, before the
comparison; no other figure was touched.

| run | printed figures | equal | windows |
|---|---:|---:|---|
"""

NOTES = """
- timeloop+accelergy: the machine is a template, which was filled in.
- timeloop-python's example of two levels (64 cycles): 19,590.9 pJ as its authors
  expect, once the lines `data_width: 8` are removed, which Timeloop ignores and calm
  refuses; 12,979.5 pJ with `datawidth: 8`.
- CoSA's example nest, of a Timeloop before commit 59fdc83 of 2023-05-02: 12,544 cycles
  without its `bandwidth`, 20,481 with it. All tiles, reads, updates, multicasts and
  reductions are equal; fills of outputs are, once the words of the first touch are
  added, which that commit removed. Its energies are an estimator's, its hops another
  formula's.
"""


def kinds_of(paths):
    """{kind: {file: (equal, all)}}"""
    found = collections.defaultdict(dict)
    for path in paths:
        counts = collections.Counter()
        for _, kind, lines in goldens.judged(path):
            counts[kind, not lines] += 1
        for kind in {kind for kind, _ in counts}:
            equal = counts[kind, True]
            found[kind][path.stem] = equal, equal + counts[kind, False]
    return found


def share(cell):
    return f"{cell[0]} of {cell[1]}" if cell[1] else "-"


def golden_table(paths):
    found = kinds_of(paths)
    kinds = sorted(found, key=lambda kind: (kind.split(",")[0] != "timeloop",
                                            kind))
    yield "| machine | " + " | ".join(kinds) + " |"
    yield "|---|" + "---:|" * len(kinds)
    for path in paths:
        cells = [share(found[kind].get(path.stem, (0, 0))) for kind in kinds]
        yield f"| {path.stem} | " + " | ".join(cells) + " |"
    totals = [share(tuple(map(sum, zip(*found[kind].values()))))
              for kind in kinds]
    yield "| all | " + " | ".join(totals) + " |"


def mapper_lines():
    results = [result for _, result in goldens.mapper_results()]
    equal = sum(not lines for lines in tool.side_by_side(
        goldens.misfits_of_mapper, results))
    yield MAPPER.rstrip("\n").format(share((equal, len(results))))


def published_rows():
    for run in (*published.exercises(), *published.designs()):
        count, wrong = published.judge(run)
        yield (f"| {run.name} | {count} | {count - len(wrong)} | "
               f"{'yes' if run.window else '-'} |")


def dosa_lines():
    rows = dosa.judged()
    now, cycles, energies = (sum(row[i] for row in rows) for i in range(3))
    yield (f"- DOSA's data set, as old, {len(rows):,} rows of layer, "
           "machine, nest, cycles and energy:\n"
           f"  {cycles:,} have the cycles and {energies:,} the energy that is "
           "published, with both older\n"
           f"  rules; {now:,} have the cycles by today's rules, too. One "
           "constant was taken from the\n  rows: a multiplier's "
           f"{dosa.MULTIPLIER_PJ} pJ.")


def main(arguments):
    if not goldens.files():
        raise SystemExit("the public cases are not there")
    lines = [HEAD.replace("{machines}", str(len(goldens.files()))),
             *golden_table(goldens.files()), *mapper_lines(),
             PUBLISHED.rstrip("\n"), *published_rows(), NOTES.rstrip("\n"),
             *dosa_lines()]
    document = pathlib.Path(arguments[0]) if arguments else DOCUMENT
    document.write_text("\n".join(lines) + "\n")
    print(f"written: {document}")


if __name__ == "__main__":
    main(sys.argv[1:])
