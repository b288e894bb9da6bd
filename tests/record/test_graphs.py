"""Graphs that bench/frontier orders: do they hold what their names promise, does
the check of orders find what is wrong, and is what the tool proves the least?"""
import hashlib
import importlib.util
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

import order_check as check     # noqa: E402
import order_graphs as graphs   # noqa: E402

CASES = pathlib.Path(os.environ.get("CALM_CASES", ROOT.parent / "shared/cases"))
DRAWN = importlib.util.find_spec("networkx") is not None
needs_networkx = unittest.skipUnless(DRAWN, "networkx is not installed")
KINDS = ({"most": 1}, {"most": 8}, {"most": 8, "inplace": 0.5, "workspace": 0.3})


def text_of(preds, seed=0, most=8, outputs=1, sizes=None, **kinds):
    sizes = sizes or graphs.random_sizes(len(preds), most, seed)
    return graphs.graph_text("g", preds, sizes, outputs, seed=seed, **kinds)


def small_ones():
    """(name, predecessors, outputs) of each family, with few down-sets."""
    for seed in range(3):
        yield f"er {seed}", graphs.erdos_renyi(13, 0.2, seed), 1
        yield f"blocks {seed}", graphs.blocks(15, 3, 0.4, 0.1, seed), 1
        yield f"layered {seed}", graphs.layered(20, 4, seed), 4
        yield f"sp {seed}", graphs.series_parallel(28, seed), 1
        yield f"nas {seed}", graphs.nas_stack(2, 2, seed), 1
        if DRAWN:
            yield f"ws {seed}", graphs.watts_strogatz(28, seed), 1


# ---- What is drawn -----------------------------------------------------------

class Drawn(unittest.TestCase):
    def digests(self, cases):
        for preds, digest in cases:
            text = text_of(preds, 1, 64, inplace=0.5, workspace=0.3).encode()
            self.assertEqual(hashlib.sha256(text).hexdigest()[:12], digest)

    def test_the_same_on_any_machine(self):
        self.digests((
            (graphs.erdos_renyi(60, 0.1, 0), "69f9a2c17d69"),
            (graphs.blocks(110, 4, 0.2, 0.03, 0), "a13281a7bac0"),
            (graphs.layered(500, 16, 1), "b375f09db30b"),
            (graphs.series_parallel(1000, 2), "64466e83087d"),
            (graphs.nas_stack(10, 5, 10), "d128c7cbd6a2"),
            (graphs.unet_chain(5, 4)[0], "77c5bafc6e15")))

    @needs_networkx
    def test_cells_are_the_same_on_any_machine(self):
        self.digests(((graphs.watts_strogatz(62, 0), "1d3a12385337"),
                      (graphs.watts_strogatz(150, 4), "79ccc2b3dc3c")))

    def test_seeds_differ(self):
        for draw in (lambda s: graphs.erdos_renyi(30, 0.1, s),
                     lambda s: graphs.blocks(30, 3, 0.3, 0.1, s),
                     lambda s: graphs.layered(60, 4, s),
                     lambda s: graphs.series_parallel(60, s),
                     lambda s: graphs.nas_stack(3, 5, s)):
            self.assertEqual(len({str(draw(seed)) for seed in range(8)}), 8)

    def test_files_are_in_an_order_that_runs(self):
        for name, preds, _ in small_ones():
            for v, inputs in enumerate(preds):
                self.assertEqual(inputs, sorted(set(inputs)), name)
                self.assertTrue(all(0 <= u < v for u in inputs), name)

    def test_sizes_and_kinds(self):
        self.assertEqual(set(graphs.random_sizes(500, 8, 3)), set(range(1, 9)))
        preds = graphs.layered(2000, 8, 0)
        sizes = graphs.random_sizes(2000, 64, 0)
        found = check.read(text_of(preds, sizes=sizes, outputs=8, inplace=0.5,
                                   workspace=0.3), {"add"})
        self.assertEqual([b.size for b in found.buffers], sizes)
        self.assertEqual(sum(b.kept for b in found.buffers), 8)
        needs = [(need, size) for need, size in zip(found.workspace, sizes) if need]
        self.assertTrue(500 < len(needs) < 700)
        self.assertTrue(all(need <= 2 * size for need, size in needs))
        self.assertTrue(all(list(b) == sorted(inputs)
                            for b, inputs in zip(found.before, preds)
                            if len(inputs) < 2))


class Shapes(unittest.TestCase):
    def ends(self, preds):
        """How many read nothing, and how many nobody reads."""
        read = set(itertools.chain(*preds))
        return preds.count([]), len(preds) - len(read)

    @needs_networkx
    def test_cells(self):
        for nodes, seed in ((32, 0), (62, 3), (150, 4)):
            preds = graphs.watts_strogatz(nodes, seed)
            self.assertEqual(len(preds), nodes + 2)
            self.assertEqual(self.ends(preds), (1, 1))
            inner = sum(u > 0 for inputs in preds[1:-1] for u in inputs)
            self.assertEqual(inner, 2 * nodes)   # as many as degree 4 has

    def test_dense_ones(self):
        self.assertEqual(graphs.erdos_renyi(3, 0, 0), [[], [0], [0], [0], [1, 2, 3]])
        self.assertEqual(graphs.erdos_renyi(3, 1, 0),
                         [[], [0], [1], [1, 2], [3]])
        self.assertEqual(graphs.blocks(9, 1, 0.3, 0, 7), self.one_block(9, 0.3, 7))
        for seed in range(5):
            self.assertEqual(self.ends(graphs.erdos_renyi(60, 0.1, seed)), (1, 1))
            self.assertEqual(self.ends(graphs.blocks(60, 4, 0.2, 0, seed)), (1, 1))

    def one_block(self, nodes, chance, seed):
        """A block model of one block: what it draws after the blocks."""
        draw = random.Random(seed)
        for _ in range(nodes):
            draw.randrange(1)
        return graphs.cell([[u for u in range(v) if draw.random() < chance]
                            for v in range(nodes)])

    def test_layers(self):
        for operators, width in ((200, 16), (999, 8)):
            for v, inputs in enumerate(graphs.layered(operators, width, 0)):
                layer = v // width
                self.assertEqual(bool(inputs), layer > 0)
                self.assertLessEqual(len(inputs), 3)
                self.assertTrue(all(1 <= layer - u // width <= 2 for u in inputs))

    def test_series_parallel(self):
        for operators in (3, 4, 20, 60):
            for seed in range(5):
                preds = graphs.series_parallel(operators, seed)
                self.assertEqual(len(preds), operators)
                self.assertEqual(self.ends(preds), (1, 1))
                before = above(preds)
                self.assertTrue(decomposes(set(range(operators)), before))
        self.assertFalse(decomposes({0, 1, 2, 3}, above([[], [], [0, 1], [1]])))

    def test_networks(self):
        preds = graphs.nas_stack(20, 5, 1)
        self.assertEqual(sum(len(inputs) == 5 for inputs in preds), 20)
        self.assertEqual(len(preds[-1]), 5)
        for nets, depth in ((1, 4), (5, 5)):
            preds, sizes = graphs.unet_chain(nets, depth)
            self.assertEqual(self.ends(preds), (1, 1))
            skips = [v - inputs[0] for v, inputs in enumerate(preds)
                     if len(inputs) == 2]
            self.assertEqual(len(skips), nets * depth)
            self.assertEqual((sizes[0], sizes[-1]), (4 ** depth, 4 ** depth))


def above(preds):
    """All that comes before each operator."""
    found = []
    for inputs in preds:
        found.append(set(inputs).union(*(found[u] for u in inputs)))
    return found


def decomposes(part, before):
    """Is the order of these series-parallel: into parts beside or behind each other,
    down to single operators?"""
    if len(part) == 1:
        return True
    for related in (True, False):
        pieces = components(part, lambda u, v: (
            (u in before[v] or v in before[u]) == related))
        if len(pieces) > 1:
            return all(decomposes(piece, before) for piece in pieces)
    return False


def components(part, joined):
    left, found = set(part), []
    while left:
        piece, new = set(), {left.pop()}
        while new:
            v = new.pop()
            piece.add(v)
            near = {u for u in left if joined(u, v)}
            left -= near
            new |= near
        found.append(piece)
    return found


# ---- The check ---------------------------------------------------------------

def anything(draw):
    """A small graph with inputs, constants, outputs that are read, several outputs,
    edges without a tensor, absent and repeated operands."""
    count = draw.randint(1, 6)
    tensors, rows, open_to = [], [], ["-"]
    for i in range(draw.randint(0, 2)):
        flag = draw.choice(("input", "const", "input output"))
        tensors.append(f"tensor x{i} {draw.randint(0, 3)} {flag}")
        open_to.append(f"x{i}")
    for v in range(count):
        inputs = [draw.choice(open_to) for _ in range(draw.randint(0, 3))]
        outputs = [f"t{v}.{k}" for k in range(draw.choice((0, 1, 1, 1, 1, 2)))]
        row = (f"op o{v} {draw.choice(('op', 'relu', 'add'))} "
               f"( {' '.join(inputs)} ) -> ( {' '.join(outputs)} )")
        if v and draw.random() < 0.2:
            row += f" after ( o{draw.randrange(v)} )"
        if draw.random() < 0.3:
            row += f" workspace={draw.randint(1, 4)}"
        rows.append(row)
        for t in outputs:
            tensors.append(f"tensor {t} {draw.randint(0, 3)}"
                           + draw.choice(("", "", "", " output")))
        open_to += outputs
    return "\n".join(["calm-graph 1", "graph g", *tensors, *rows, ""])


def orders(graph):
    for order in itertools.permutations(range(len(graph.names))):
        place = {v: i for i, v in enumerate(order)}
        if all(place[u] < place[v] for v, before in enumerate(graph.before)
               for u in before):
            yield order


def held(graph, order):
    """Steps by their definition: each buffer asked at each step whether it lives."""
    for i, v in enumerate(order):
        ran, later = set(order[:i + 1]), set(order[i + 1:])
        living = {k for k, b in enumerate(graph.buffers)
                  if (b.maker is None or b.maker in ran)
                  and (b.kept or b.maker == v or set(b.readers) & (later | {v}))}
        dying = [k for k in graph.over[v]
                 if not set(graph.buffers[k].readers) & later]
        yield (sum(graph.buffers[k].size for k in living) + graph.workspace[v]
               - (graph.buffers[dying[0]].size if dying else 0))


class Check(unittest.TestCase):
    def test_against_all_orders(self):
        draw, saved = random.Random(1), 0
        for _ in range(300):
            text = anything(draw)
            graph = check.read(text, {"relu", "add"})
            peaks = []
            for order in orders(graph):
                names = [graph.names[v] for v in order]
                true = list(held(graph, order))
                self.assertEqual(check.steps(graph, names), true, text)
                peaks.append(max(true))
            self.assertEqual(check.least(graph), min(peaks), text)
            saved += min(peaks) < check.least(check.read(text))
        self.assertGreater(saved, 10)

    def test_what_is_wrong(self):
        graph = check.read(text_of([[], [0], [0], [1, 2]], most=1))
        right = ["o0", "o1", "o2", "o3"]
        self.assertEqual(check.fault(graph, right, [1, 2, 3, 3]), "")
        for order, steps in ((right[:3], [1, 2, 3]), (right[:3] * 2, [1] * 6),
                             (["o1", "o0", "o2", "o3"], [1, 2, 3, 3]),
                             (right, [1, 2, 2, 3]), (right, [1, 2, 3, 4]),
                             (right, [1, 2, 3])):
            self.assertTrue(check.fault(graph, order, steps))

    def test_too_many(self):
        graph = check.read(text_of(graphs.erdos_renyi(12, 0, 0)))
        self.assertIsNone(check.least(graph, 100))
        self.assertIsNotNone(check.least(graph, 1000))

    def test_what_it_cannot_read(self):
        for more in ("graph again", "tensor v 4 variable", "tensor v u8[2,2]",
                     "op x while ( ) -> ( ) body=again",
                     "op x partial_sum ( t0 ) -> ( )"):
            with self.assertRaises(ValueError):
                check.read(text_of([[]]) + more + "\n")


# ---- Public task graphs ------------------------------------------------------

class Adamem(unittest.TestCase):
    def test_by_hand(self):
        text = graphs.adamem_text("4 5\n0 3 2\n0 1 5\n \n3 2 4\n1 2 1\n0 3 1\n")
        graph = check.read(text)
        self.assertEqual([b.size for b in graph.buffers], [8, 1, 4, 0])
        self.assertEqual(graph.before, [set(), {0}, {0}, {1, 2}])
        self.assertEqual(check.steps(graph, graph.names), [8, 9, 13, 5])

    def test_what_is_no_task_graph(self):
        for text in ("", "2 1\n0 2 1\n", "2 2\n0 1 1\n1 0 1\n", "2 1\n0 1\n",
                     "2 1\n-1 1 4\n"):
            with self.assertRaises(ValueError):
                graphs.adamem_text(text)

    def test_optima(self):
        home = CASES / "graphs/adamem"
        if not home.is_dir():
            self.skipTest("the public cases are not there")
        optima = json.loads((home / "optimal.json").read_text())["results"]
        for name, row in optima.items():
            if name.startswith("small/"):
                text = graphs.adamem_text((home / name).read_text())
                self.assertEqual(check.least(check.read(text)),
                                 row["optimal_peak"], name)


# ---- What the tool makes of them ---------------------------------------------

class Planned(unittest.TestCase):
    def plan(self, text, *more):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "graph.cg")
            path.write_text(text)
            done = subprocess.run(
                [os.environ["CALM"], "plan", path, "--memory", "plain", "--inplace",
                 "add", "--layout", "size", "--joint-orders", "0", "--json",
                 "--quiet", "--time-limit", "0", *more],
                stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)["order"]

    def agree(self, text, name):
        graph = check.read(text, {"add"})
        found = self.plan(text)
        self.assertEqual(check.fault(graph, found["sequence"],
                                     found["step_bytes"]), "", name)
        self.assertEqual(found["status"], "optimal", name)
        self.assertEqual((found["bound_bytes"], max(found["step_bytes"])),
                         (found["peak_bytes"],) * 2, name)
        self.assertEqual(found["peak_bytes"], check.least(graph), name)

    def test_least_of_each_family(self):
        for name, preds, outputs in small_ones():
            for kinds in KINDS:
                self.agree(text_of(preds, outputs=outputs, **kinds),
                           f"{name} {kinds}")

    def test_least_of_anything(self):
        draw = random.Random(2)
        for i in range(60):
            self.agree(anything(draw), f"number {i}")

    def test_large_ones_are_orders(self):
        for preds, outputs in ((graphs.layered(500, 8, 0), 8),
                               (graphs.series_parallel(1000, 0), 1),
                               (graphs.erdos_renyi(100, 0.1, 0), 1)):
            text = text_of(preds, outputs=outputs, **KINDS[2])
            found = self.plan(text, "--tick-limit", "2000000")
            self.assertEqual(check.fault(
                check.read(text, {"add"}), found["sequence"],
                found["step_bytes"]), "")
            self.assertLessEqual(found["bound_bytes"], found["peak_bytes"])


if __name__ == "__main__":
    unittest.main()
