"""The figures of bench/frontier: lines while they come, ratios, and a page."""
import math

TITLES = {
    "order": """# Hard orders, measured

`make bench-order` writes this page: the exact search on graphs that are made to be
hard, and other solvers on the same ones. Peaks in bytes under the memory model
`plain`; graphs with an `i` in their name have operators that write over a dying
input and operators with workspace, which the others' models do not know. `level`,
`dfs` and `greedy` are calm's orders without a search
([algorithms/order-greedy.md](algorithms/order-greedy.md)), `dp` is SERENITY's dynamic
programming without budgets ([algorithms/order-dp.md](algorithms/order-dp.md)), `cp-sat`
is OR-Tools' solver, `highs` the time-indexed integer program. Searches of ours are
limited by ticks and repeat to the byte, others by %(seconds)g seconds; all had one
thread. Seconds are of one processor of the machine that made the page, memory is the
most that the process held. Seeds 0 to 2 were at hand while the search was built,
3 and 4 only here. The searches themselves:
[algorithms/order-exact.md](algorithms/order-exact.md).
""",
    "layout": """# Hard layouts, measured

`make bench-layout` writes this page: exact placement on buffers that are made to be
hard, and others' allocators on the same ones. Arenas in bytes. *cuts*: a rectangle of
1 MiB cut into buffers, so that the least arena is known where nothing was left out;
the second number is that of steps, the third what part was left out. *full*: random
buffers with fillers, so that each step is as full as the fullest; often the bytes in
use are out of reach. *tricky*: copies of a small case that needs a quarter more than
the bytes in use. *mixed*: alignments, groups with gaps in time, fixed offsets. *large*:
training steps and long chains. Public ones come from the case collection. The others
are allocators of omnimalloc, and OR-Tools' `cp-sat`.
Searches of ours are limited by ticks and repeat to the byte, others by %(seconds)g
seconds; all had one thread. Every placement was checked by code that shares nothing
with those that made it. Seeds 0 to 2, all large ones and the public ones were at hand
while the search was built; later seeds ran only here. The search itself:
[algorithms/layout-exact.md](algorithms/layout-exact.md).
""",
}
EFFORTS = {"order": "states", "layout": "nodes"}


def thousands(x):
    return "-" if x is None else f"{x:,}"


def gap(found):
    if found.value is None:
        return "nothing"
    if found.status == "optimal":
        return "proved"
    if found.bound is None or not found.value:
        return "-"
    return f"gap {100 * (found.value - found.bound) / found.value:.1f} %"


def ratio(other, best):
    if other.value is None or not best.value:
        return ("too long" if other.message == "exit -9"
                else other.message[:24] or "nothing")
    text = f"{other.value / best.value:.3f}"
    return text + (" proved" if other.status == "optimal" else "")


class Printer:
    def __init__(self, kind):
        self.kind, self.family = kind, None

    def add(self, case, found):
        best = found[0]
        if case.family != self.family:
            self.family = case.family
            print(f"\n{case.family:24} {'value':>15} {'bound':>15} {'':>11} "
                  f"{EFFORTS[self.kind]:>10} {'s':>8} {'MiB':>6}")
        print(f"{case.name[:24]:24} {thousands(best.value):>15} "
              f"{thousands(best.bound):>15} {gap(best):>11} "
              f"{thousands(best.states):>10} {best.seconds:8.2f} "
              f"{best.mebibytes:6.0f}{best.message[:40]}", flush=True)
        if len(found) > 1:
            print("    " + ", ".join(f"{one.method} {ratio(one, best)}"
                                     for one in found[1:]), flush=True)


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def ratios(results):
    """{method: [(value ratio, seconds ratio, proved)]} of the cases it ran."""
    table = {}
    for _, found in results:
        best = found[0]
        for one in found[1:]:
            value = (one.value / best.value
                     if one.value is not None and best.value else None)
            table.setdefault(one.method, []).append((
                value, max(one.seconds, 1e-3) / max(best.seconds, 1e-3),
                one.status == "optimal"))
    return table


def peer_rows(results):
    for method, rows in ratios(results).items():
        values = [value for value, _, _ in rows if value]
        yield [method, str(len(rows)), str(len(rows) - len(values)),
               f"{mean(values):.3f}" if values else "-",
               f"{max(values):.3f}" if values else "-",
               f"{mean([seconds for _, seconds, _ in rows]):.3g}",
               str(sum(proved for _, _, proved in rows))]


def summary(results):
    proved = sum(found[0].status == "optimal" for _, found in results)
    lines = [f"{len(results)} cases, {proved} proved"]
    for method, count, none, value, worst, seconds, optimal in peer_rows(results):
        lines.append(f"{method:16} {count:>4} cases, {none} without an answer; "
                     f"value {value} of ours (at most {worst}), seconds {seconds} "
                     f"of ours, {optimal} proved")
    return "\n".join(lines)


def markdown(head, rows):
    lines = ["| " + " | ".join(head) + " |",
             "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def family_table(kind, family, results):
    rows, methods = [], []
    for _, found in results:
        methods += [one.method for one in found[1:]
                    if one.method not in methods]
    for case, found in results:
        best, others = found[0], {one.method: one for one in found[1:]}
        rows.append([case.name, thousands(best.value), thousands(best.bound),
                     gap(best), thousands(best.states), thousands(best.ticks),
                     f"{best.seconds:.2f}", f"{best.mebibytes:.0f}",
                     *(ratio(others[name], best) if name in others else ""
                       for name in methods)])
    proved = sum(found[0].status == "optimal" for _, found in results)
    return (f"## {family}\n\n{proved} of {len(results)} proved. What others found is "
            "given as a multiple of ours.\n\n" + markdown(
                ["", "value", "bound", "", EFFORTS[kind], "ticks", "s", "MiB",
                 *methods], rows) + "\n")


def page(options, results):
    parts = [TITLES[options.kind] % {"seconds": options.seconds},
             "## Others over ours\n\nGeometric means over the cases that a method ran; "
             "*none*: it found nothing in its time.\n\n" + markdown(
                 ["", "cases", "none", "value", "worst value", "seconds",
                  "proved"], peer_rows(results)) + "\n"]
    for family in dict.fromkeys(case.family for case, _ in results):
        parts.append(family_table(options.kind, family, [
            row for row in results if row[0].family == family]))
    return "\n".join(parts)
