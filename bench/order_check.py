"""Is an order of a graph valid, what does each step hold, and what is the least that
any order holds?  Shares nothing with the solvers.

A graph is a .cg text of one section whose tensors have plain byte counts, in the
memory model `plain`, where operators of the kinds `over` may write over a dying
input.  An order is a list of the operators' names.  `steps` costs a look at each
operand; `least` visits every set of operators that can have run, which only
small graphs have few of.
"""
import collections
import itertools
import re

Buffer = collections.namedtuple("Buffer", "size maker readers kept")
Graph = collections.namedtuple("Graph", "names before buffers workspace over")


# ---- Reading -----------------------------------------------------------------

def words(line):
    return [word.strip('"') for word in
            re.findall(r'"[^"\\]*"|[()]|[^\s()"#]+|#.*', line)
            if not word.startswith("#")]


def parts(found):
    """Words of an operator behind its kind: inputs, outputs, who else comes before,
    workspace."""
    found, groups = iter(found), []
    need = 0
    for word in found:
        if word == "(":
            groups.append(list(itertools.takewhile(lambda w: w != ")", found)))
        elif word.startswith("workspace="):
            need = int(word.partition("=")[2])
        elif word.startswith("body="):
            raise ValueError("an operator that runs another section")
    inputs, outputs, *after = groups
    return [t for t in inputs if t != "-"], outputs, sum(after, []), need


def read(text, over=()):
    """Raises ValueError at what is beyond this module."""
    tensors, rows, sections = {}, {}, 0
    for line in map(words, text.splitlines()):
        if line[:1] == ["graph"]:
            sections += 1
        elif line[:1] == ["tensor"]:
            tensors[line[1]] = int(line[2]), set(line[3:])
        elif line[:1] == ["op"]:
            rows[line[1]] = line[2], *parts(line[3:])
    if sections != 1 or any(flags - {"input", "output", "const"}
                            for _, flags in tensors.values()):
        raise ValueError("more than one section, or a variable")
    if {"partial_sum", "add_into"} & {row[0] for row in rows.values()}:
        raise ValueError("a partial sum")
    number = {name: v for v, name in enumerate(rows)}
    maker = {t: number[name] for name, row in rows.items() for t in row[2]}
    readers = {}
    for name, row in rows.items():
        for t in row[1]:
            readers.setdefault(t, []).append(number[name])
    place, buffers = {}, []
    for t, (size, flags) in tensors.items():
        if "const" not in flags and (t in maker or t in readers):
            place[t] = len(buffers)
            buffers.append(Buffer(size, maker.get(t), readers.get(t, []),
                                  "output" in flags))
    before = [{number[name] for name in row[3]}
              | {maker[t] for t in row[1] if t in maker} for row in rows.values()]
    return Graph(list(rows), before, buffers, [row[4] for row in rows.values()],
                 [overwritten(row, place, buffers, over) for row in rows.values()])


def overwritten(row, place, buffers, over):
    """Which buffers an operator could write its first output over."""
    kind, inputs, outputs = row[:3]
    if kind not in over or not outputs:
        return []
    size = buffers[place[outputs[0]]].size
    return [place[t] for t in inputs if t in place
            and buffers[place[t]].size == size and not buffers[place[t]].kept]


# ---- An order ----------------------------------------------------------------

def fault(graph, order, held):
    """What is wrong first, or ""; `held` is what each step is said to hold."""
    if sorted(order) != sorted(graph.names):
        return "the order does not run each operator once"
    place = {name: i for i, name in enumerate(order)}
    for name, before in zip(graph.names, graph.before):
        for u in before:
            if place[graph.names[u]] > place[name]:
                return f"{name} runs before {graph.names[u]}"
    if len(held) != len(order):
        return f"{len(held)} steps for {len(order)} operators"
    for name, true, said in zip(order, steps(graph, order), held):
        if true != said:
            return f"the step of {name} holds {true} bytes, not {said}"
    return ""


def steps(graph, order):
    """Bytes at each step: what begins less what has ended, and what the step
    itself needs or saves."""
    place = {name: i for i, name in enumerate(order)}
    at = [place[name] for name in graph.names]
    change, last = [0] * (len(order) + 1), []
    for b in graph.buffers:
        users = [at[v] for v in b.readers]
        first = 0 if b.maker is None else at[b.maker]
        last.append(len(order) - 1 if b.kept else max(users, default=first))
        change[first] += b.size
        change[last[-1] + 1] -= b.size
    found = list(itertools.accumulate(change[:-1]))
    for v, step in enumerate(at):
        saved = (graph.buffers[b].size for b in graph.over[v] if last[b] == step)
        found[step] += graph.workspace[v] - next(saved, 0)
    return found


# ---- All orders --------------------------------------------------------------

def least(graph, most=1 << 20):
    """The least peak of any order: layer by layer, for every set of operators that
    can have run, the least peak on a way to it.  None, if a layer has more than
    `most` sets."""
    before = [mask(b) for b in graph.before]
    uses = [mask(b.readers) for b in graph.buffers]
    layer = {0: 0}
    for _ in graph.names:
        following = {}
        for ran, peak in layer.items():
            held = alive(graph, uses, ran)
            for v, needed in enumerate(before):
                if ran >> v & 1 or needed & ~ran:
                    continue
                then = ran | 1 << v
                high = max(peak, held + extra(graph, uses, v, then))
                if high < following.get(then, high + 1):
                    following[then] = high
        if len(following) > most:
            return None
        layer = following
    return min(layer.values())


def mask(operators):
    return sum(1 << v for v in set(operators))


def alive(graph, uses, ran):
    """Bytes between two steps, when those in `ran` have run."""
    return sum(b.size for b, users in zip(graph.buffers, uses)
               if (b.maker is None or ran >> b.maker & 1)
               and (b.kept or users & ~ran))


def extra(graph, uses, v, then):
    """What a step adds to that while v runs; `then` has run at its end."""
    made = sum(b.size for b in graph.buffers if b.maker == v)
    saved = (graph.buffers[b].size for b in graph.over[v] if not uses[b] & ~then)
    return made + graph.workspace[v] - next(saved, 0)
