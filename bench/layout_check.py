"""Is a placement of buffers valid?  Shares nothing with the solvers.

Rows are those of a CSV file for `calm pack`; offsets are by the row's id.  Costs
a search in the buffers alive per row, and a look at each row of a group alive.
"""
import bisect
import collections
import csv

Row = collections.namedtuple("Row", "id lower upper size align group fixed")


def read(path):
    with open(path, newline="") as file:
        return [Row(row["id"], int(row["lower"]), int(row["upper"]),
                    int(row["size"]), int(row.get("alignment") or 1),
                    row.get("group") or "",
                    int(row["offset"]) if row.get("offset") else None)
                for row in csv.DictReader(file)]


def fault(rows, offsets, arena=None):
    """What is wrong first, or ""; also if the highest end is not `arena`."""
    return (alone(rows, offsets) or together(rows, offsets)
            or too_large(rows, offsets, arena))


def alone(rows, offsets):
    """What a row asks for without regard to others but those of its group."""
    groups = {}
    for row in rows:
        at = offsets.get(row.id)
        if at is None or at < 0:
            return f"buffer {row.id} has no offset"
        if at % row.align:
            return f"buffer {row.id} at {at} is not aligned to {row.align}"
        if row.fixed is not None and at != row.fixed:
            return f"buffer {row.id} is at {at}, not at {row.fixed}"
        if row.group and groups.setdefault(row.group, at) != at:
            return f"buffer {row.id} is not where its group is"
    return ""


def together(rows, offsets):
    """Those alive together lie apart, unless they are of one group.  Ends come
    before beginnings.  Rows without a group never share bytes, so that only the
    neighbours of a place are looked at; those of groups may, and all are."""
    events = []
    for i, row in enumerate(rows):
        if row.size and row.lower < row.upper:
            events += [(row.upper, 0, i), (row.lower, 1, i)]
    single, grouped = [], {}
    for _, begins, i in sorted(events):
        row = rows[i]
        span = (offsets[row.id], offsets[row.id] + row.size, i)
        if begins:
            other = beside(single, span)
            if other is None:
                other = next((k for k, taken in grouped.items()
                              if taken[0] < span[1] and span[0] < taken[1]
                              and rows[k].group != row.group), None)
            if other is not None:
                return f"buffer {row.id} lies on {rows[other].id}"
        if begins and row.group:
            grouped[i] = span
        elif begins:
            bisect.insort(single, span)
        elif row.group:
            del grouped[i]
        else:
            del single[bisect.bisect_left(single, span)]
    return ""


def beside(spans, span):
    """The number of one of the sorted spans that meets this one, or None."""
    at = bisect.bisect_left(spans, span)
    if at and spans[at - 1][1] > span[0]:
        return spans[at - 1][2]
    if at < len(spans) and spans[at][0] < span[1]:
        return spans[at][2]
    return None


def too_large(rows, offsets, arena):
    end = max((offsets[row.id] + row.size for row in rows
               if row.size and row.lower < row.upper), default=0)
    if arena is None or arena == end:
        return ""
    return f"the highest buffer ends at {end}, the arena at {arena}"
