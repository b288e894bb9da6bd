"""The quality record: a row per figure, and how two records differ.

A row is a figure of a model under some options, as a method found it: its value
(all of them are better the less they are), what is proved to be the least, and
the effort.  What others than our searches come to, a runtime's planner or the
order of a file, is a row as well; that it changes is neither good nor bad.
"""
import csv
import dataclasses
import math

COLUMNS = ("model", "options", "figure", "method", "value", "bound", "status",
           "states", "ticks")
KEYS = COLUMNS[:4]
# Methods that are not our searches.
GIVEN = ("file", "runtime", "level", "dfs", "greedy", "dp", "cp-sat", "highs",
         "greedy-by-size", "greedy-by-all", "best-fit", "telamalloc",
         "hill-climb", "annealing", "tabu", "supermalloc")
REFUSED = "refused"
CLOSE = 1e-12                   # of figures that are sums of fractions

# What becomes of a figure, and whether somebody has to look at it.
KINDS = {
    "contradicted": "contradicted: below what was proved, or proved above what"
                    " was found",
    "worse": "worse",
    "better": "better",
    "changed": "changed, of what is given",
    "effort": "only the effort differs",
    "new": "new",
    "gone": "gone",
}
FAILURES = ("contradicted", "worse")


@dataclasses.dataclass(frozen=True)
class Row:
    model: str
    options: str
    figure: str
    method: str
    value: int | float | None = None    # None: refused
    bound: int | float | None = None
    status: str = ""                    # optimal, feasible, ...; "" if given
    states: int | None = None
    ticks: int | None = None

    @property
    def key(self):
        return tuple(getattr(self, name) for name in KEYS)

    @property
    def name(self):
        return " ".join(word for word in self.key if word)

    @property
    def home(self):
        """The folder at the top of the model's name."""
        return self.model.partition("/")[0]


# ---- The file ----------------------------------------------------------------

def number(text):
    if text == "":
        return None
    return int(text) if text.lstrip("-").isdigit() else float(text)


def read(path):
    """{key: row}; nothing if there is no such file."""
    if not path.exists():
        return {}
    with open(path, newline="") as file:
        rows = [Row(**{name: line[name] if name in KEYS or name == "status"
                       else number(line[name]) for name in COLUMNS})
                for line in csv.DictReader(file)]
    return {row.key: row for row in rows}


def write(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({name: "" if getattr(row, name) is None
                             else getattr(row, name) for name in COLUMNS})


def merge(before, after, gone):
    """All rows of `after`, and those before that were neither run again nor are
    gone, where they were or at the end."""
    left = dict(before)
    for key in gone:
        left.pop(key)
    order = list(after) if set(left) <= set(after) else list(
        dict.fromkeys([*left, *after]))
    return [after.get(key, left.get(key)) for key in order]


# ---- Differences -------------------------------------------------------------

def less(a, b):
    """Is a less than b, and not by rounding alone?"""
    if a is None or b is None:
        return False
    return a < b and not math.isclose(a, b, rel_tol=CLOSE)


def same(a, b):
    return a == b or not (a is None or b is None or less(a, b) or less(b, a))


def judge(old, new):
    """The kind of difference, None if there is none."""
    if new.method in GIVEN:
        return None if same(old.value, new.value) else "changed"
    if old.value is None or new.value is None:
        return (None if old.value is new.value else
                "worse" if new.value is None else "better")
    if less(new.value, old.bound) or less(old.value, new.bound):
        return "contradicted"
    proved = [row.status == "optimal" for row in (old, new)]
    bounds = [-math.inf if row.bound is None else row.bound
              for row in (old, new)]
    if less(old.value, new.value) or less(bounds[1], bounds[0]) or (
            proved == [True, False]):
        return "worse"
    if less(new.value, old.value) or less(bounds[0], bounds[1]) or (
            proved == [False, True]):
        return "better"
    return "effort" if (old.states, old.ticks) != (new.states,
                                                   new.ticks) else None


def describe(old, new):
    """What differs, as a line."""
    parts = []
    for name in COLUMNS[len(KEYS):]:
        a, b = getattr(old, name), getattr(new, name)
        if not same(a, b) if name != "status" else a != b:
            parts.append(f"{name} {show(a)} -> {show(b)}{share(name, a, b)}")
    return ", ".join(parts)


def show(x):
    return "none" if x in (None, "") else str(x)


def share(name, a, b):
    if name == "status" or not a or b is None:
        return ""
    return f" ({100 * (b - a) / a:+.3g} %)"


def compare(before, after, was_run):
    """{kind: lines}.  A row that is not in `after` is gone if was_run(row)."""
    found = {kind: [] for kind in KINDS}
    for key, new in after.items():
        old = before.get(key)
        kind = judge(old, new) if old else "new"
        if kind == "new":
            found[kind].append(f"{new.name}: {show(new.value)}")
        elif kind:
            found[kind].append(f"{new.name}: {describe(old, new)}")
    found["gone"] = [f"{row.name}: {show(row.value)}"
                     for row in gone(before, after, was_run).values()]
    return found


def gone(before, after, was_run):
    return {key: row for key, row in before.items()
            if key not in after and was_run(row)}


def failed(found):
    return any(found[kind] for kind in FAILURES)


def summary(found, after):
    counts = [f"{len(lines)} {kind}" for kind, lines in found.items() if lines]
    return f"{len(after)} figures: " + (", ".join(counts) or "all as kept")
