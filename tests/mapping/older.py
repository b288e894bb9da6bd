"""What Timeloop counted otherwise before today's version.

Published figures are of their time.  Two rules have changed since:

- First fills (until 2023-05-02, commit 59fdc83): the words of an output's first
  touch were counted as fills of a buffer.
- Windows (until 2025-01-21, commit a12fff5): a step that does not move a tensor
  counted as a change of direction, so that the next step which does move it
  loaded the tile whole.  calm has today's rule: such a step is nothing.

Here are the older rules, so that older figures can be told from wrong ones.
"""
import math

# What moves Inputs: rank, and the stride or dilation that is its coefficient.
INPUT_RANKS = {"N": (0, None), "C": (1, None), "R": (2, "Wdilation"),
               "P": (2, "Wstride"), "S": (3, "Hdilation"), "Q": (3, "Hstride")}


def coefficient(problem, dimension):
    key = INPUT_RANKS[dimension][1]
    return int(problem.get(key, 1)) if key else 1


def moved(problem, dimension, steps):
    """The translation of Inputs by some steps of a dimension."""
    vector = [0] * 4
    if dimension in INPUT_RANKS:
        rank, _ = INPUT_RANKS[dimension]
        vector[rank] = steps * coefficient(problem, dimension)
    return tuple(vector)


def tile_of(problem, sizes):
    """The extents of Inputs for so many iterations of each dimension."""
    tile = [1] * 4
    for dimension, (rank, _) in INPUT_RANKS.items():
        tile[rank] += coefficient(problem, dimension) * (
            sizes.get(dimension, 1) - 1)
    return tile


class Window:
    """A buffer under the older rule: what is delivered, visit by visit."""

    def __init__(self, tile):
        self.tile, self.place, self.direction = tile, None, None

    def visit(self, place):
        whole = math.prod(self.tile)
        before, self.place = self.place, place
        if before is None:
            return whole
        step = tuple(map(lambda a, b: a - b, place, before))
        if self.direction not in (None, step):
            self.direction = None
            return whole
        self.direction = step
        return whole - math.prod(max(0, extent - abs(way))
                                 for extent, way in zip(self.tile, step))


def input_words(problem, inner, outer):
    """Words of Inputs that loops bring into the buffer below them, which holds
    what the inner loops need.  All are (dimension, factor), innermost first;
    only the first two iterations of a loop are looked at, as by default."""
    sizes, steps = {}, []
    for dimension, factor in inner:
        sizes[dimension] = sizes.get(dimension, 1) * factor
    tile = tile_of(problem, sizes)
    for dimension, factor in outer:
        steps.append((factor, moved(problem, dimension,
                                    sizes.get(dimension, 1))))
        sizes[dimension] = sizes.get(dimension, 1) * factor
    window = Window(tile)

    def walk(depth, place):
        if depth < 0:
            return window.visit(place)
        factor, way = steps[depth]
        words = walk(depth - 1, place)
        if factor > 1:
            there = tuple(map(lambda a, b: a + b, place, way))
            words += (factor - 1) * walk(depth - 1, there)
        return words

    return walk(len(steps) - 1, (0, 0, 0, 0))
