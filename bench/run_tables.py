"""The figures as they are read by people, case by case, while they come."""
import pathlib

HEADS = {
    "plan": "peak of the file's order and of ours; arena of the runtime's "
            "planner and ours; bytes\nopt: both proved least, else the gap to "
            f"the bound\n\n{'case':25} {'ops':>4} {'file':>9} {'best':>9} "
            f"{'runtime':>9} {'arena':>9} {'proof':>5} {'states':>7} "
            f"{'kticks':>7} {'seconds':>7}",
    "traffic": "bytes that move for want of room: in the file's order, in that of"
               f" least peak, and fewest\n\n{'case':25} {'file':>9} {'peak':>9} "
               f"{'fewest':>9} {'bound':>9} {'proof':>5} {'states':>7} "
               f"{'kticks':>7} {'seconds':>7}",
    "pack": f"arena\n\n{'case':45} {'arena':>9} {'proof':>5} {'nodes':>7} "
            f"{'kticks':>7} {'seconds':>7}",
    "map": "least energy (pJ), delay (cycles) or EDP of the layers of ResNet-50"
           f"\n\n{'layer':25} {'value':>24} {'bound':>24} {'proof':>5} "
           f"{'states':>7} {'seconds':>7}",
}


def proof(rows):
    """opt if everything asked for is proved least, else the widest gap."""
    gaps = [(row.value - row.bound) / row.value for row in rows
            if row.status == "feasible" and row.value]
    return f"{100 * max(gaps):.1f}%" if gaps else "opt"


def short(name):
    name = pathlib.PurePath(name).name
    for suffix in (".tflite", ".csv", ".cg"):
        name = name.replace(suffix, "")
    return name if len(name) <= 25 else name[:12] + "~" + name[-12:]


def plan_line(line):
    peak, arena = (line.row(figure, "exact")
                   for figure in ("peak_bytes", "arena_bytes"))
    given = [line.row(*key).value for key in (
        ("operators", "file"), ("peak_bytes", "file"),
        ("arena_bytes", "runtime"))]
    kticks = (peak.ticks + arena.ticks) / 1e3
    return (f"{short(line.name):25} {given[0]:>4} {given[1]:>9} "
            f"{peak.value:>9} {given[2]:>9} {arena.value:>9} "
            f"{proof([peak, arena]):>5} {peak.states:>7} {kticks:7.0f} "
            f"{line.seconds:7.3f}")


def traffic_line(line):
    given, peak, least = line.rows
    return (f"{short(line.name):25} {given.value:>9} {peak.value:>9} "
            f"{least.value:>9} {least.bound:>9} {proof([least]):>5} "
            f"{least.states:>7} {least.ticks / 1e3:7.0f} {line.seconds:7.3f}")


def pack_line(line):
    row = line.rows[0]
    return (f"{short(line.name):45} {row.value:>9} {proof([row]):>5} "
            f"{row.states:>7} {row.ticks / 1e3:7.0f} {line.seconds:7.3f}")


def map_line(line):
    row = line.rows[0]
    return (f"{short(line.name):25} {row.value:>24} {row.bound:>24} "
            f"{proof([row]):>5} {row.states:>7} {line.seconds:7.3f}")


LINES = {"plan": plan_line, "traffic": traffic_line, "pack": pack_line, "map": map_line}


class Printer:
    """Heads where the kind of case changes, folders where they change."""

    def __init__(self):
        self.verb = self.group = None

    def add(self, case, lines):
        if case.verb != self.verb:
            print(f"{'' if self.verb is None else chr(10)}{HEADS[case.verb]}")
            self.verb, self.group = case.verb, None
        for line in lines:
            folder = pathlib.PurePath(line.name).parent
            group = f"{folder}/  {case.options}"
            if case.verb == "pack":
                group = f"{folder}/"
            if group != self.group:
                print(group)
                self.group = group
            print(f"{short(line.name):25} {line.message[:74]}"
                  if line.message or line.rows[0].value is None
                  else LINES[case.verb](line), flush=True)
