"""Networks with the true shapes of published ones, and random weights.

A Net is a list of layers on pictures of height x width x channels, in file
order; net_files.py writes it for a runtime, net_values.py computes it in double
precision.  What is said of a network here are facts: SwiftNet's wiring (by
SERENITY's authors), the genotypes of cells that architecture searches found.

    net = stack("darts_v2")
    net = swiftnet()
"""
import dataclasses

import numpy


@dataclasses.dataclass
class Layer:
    kind: str  # conv depthwise max_pool average_pool add concat mean dense
    output: str
    inputs: list
    kernel: tuple = (1, 1)
    stride: int = 1
    dilation: int = 1
    relu: int = False  # 6: and no output is above that
    weight: numpy.ndarray = None  # O H W I; 1 H W O; dense: O I
    bias: numpy.ndarray = None


class Net:
    """Layers and the shapes of their tensors; all windows are padded so that
    only the stride makes a picture smaller."""

    def __init__(self, name, shape, seed=1):
        self.name, self.layers = name, []
        self.shapes = {"x": shape}
        self.random = numpy.random.default_rng(seed)

    @property
    def output(self):
        return self.layers[-1].output

    def add_layer(self, kind, output, inputs, shape, **facts):
        self.layers.append(Layer(kind, output, list(inputs), **facts))
        self.shapes[output] = shape
        return output

    def weights(self, shape, fan_in):
        """Weights and a bias under which values neither grow nor shrink."""
        scale = numpy.sqrt(2 / fan_in)
        count = shape[-1] if shape[0] == 1 and len(shape) == 4 else shape[0]
        return {"weight": self.normal(shape, scale),
                "bias": self.normal([count], 0.1)}

    def normal(self, shape, scale):
        values = self.random.standard_normal(shape, numpy.float32)
        return values * numpy.float32(scale)

    def smaller(self, x, stride):
        height, width, channels = self.shapes[x]
        return -(-height // stride), -(-width // stride), channels

    def conv(self, output, x, channels, kernel=(1, 1), stride=1, relu=True,
             dilation=1):
        height, width, depth = self.smaller(x, stride)
        taps = kernel[0] * kernel[1]
        return self.add_layer(
            "conv", output, [x], (height, width, channels), kernel=kernel,
            stride=stride, relu=relu, dilation=dilation,
            **self.weights([channels, *kernel, depth], taps * depth))

    def depthwise(self, output, x, size=3, stride=1, relu=False, dilation=1,
                  multiplier=1):
        height, width, depth = self.smaller(x, stride)
        channels = depth * multiplier
        return self.add_layer(
            "depthwise", output, [x], (height, width, channels),
            kernel=(size, size), stride=stride, relu=relu, dilation=dilation,
            **self.weights([1, size, size, channels], size * size))

    def pool(self, kind, output, x, size, stride):
        return self.add_layer(f"{kind}_pool", output, [x],
                              self.smaller(x, stride), kernel=(size, size),
                              stride=stride)

    def add(self, output, inputs, relu=False):
        return self.add_layer("add", output, inputs, self.shapes[inputs[0]],
                              relu=relu)

    def concat(self, output, inputs):
        height, width, _ = self.shapes[inputs[0]]
        channels = sum(self.shapes[x][2] for x in inputs)
        return self.add_layer("concat", output, inputs,
                              (height, width, channels))

    def mean(self, output, x):
        """Over the picture."""
        return self.add_layer("mean", output, [x], (self.shapes[x][2],))

    def dense(self, output, x, channels):
        depth, = self.shapes[x]
        return self.add_layer("dense", output, [x], (channels,),
                              **self.weights([channels, depth], depth))


# Person detection, without its last two operators and the split before it that
# only copies.  OUTPUT KIND INPUT...; the channels of each cell's convolutions
# are below.  Convolutions without a kernel here are 1x1, depthwise ones 3x3.
SWIFTNET_CELLS = [
    (32, 48, """
        b conv a;     ab concat a b;    c conv b;     d conv a
        ad concat a d;      e conv b;   f conv ab;    ef concat e f
        adef concat a d e f;  g conv ef;  bg concat b g;  fg concat f g
        h conv bg;    i conv adef;      cfhi concat c f h i
        j depthwise f;      k conv j;   l depthwise h;    m conv l
        n depthwise fg;     o conv n;   p depthwise ad;   q conv p
        r conv cfhi;  all concat k m o q r
        id mapping a; pr projection all; sum add id pr"""),
    (48, 80, """
        b conv a;     c conv a;         d conv a;     e conv a
        id mapping a; f depthwise b;    g depthwise b;    h conv f
        bh concat b h;      bh2 concat b h;   i conv bh;  j depthwise bh2
        k conv g;     kc concat k c;    l conv kc;    m conv c
        abhd concat a b h d;            n conv abhd;  o conv n
        p conv j;     all concat e i l o m p
        pr projection all;  sum add id pr"""),
    (64, 76, """
        b conv a;     id mapping a;     c depthwise b;    d conv b
        e depthwise b;      f conv b;   g depthwise b;    h depthwise b
        i conv c;     ai concat a i;    bi concat b i;    j conv ai
        k depthwise bi;     l depthwise d;    m depthwise d;    n conv e
        o conv l;     p conv m;         q conv k;     r conv g
        s conv h;     all concat j n o f p q r s
        pr projection all;  sum add id pr"""),
]


def swiftnet_cell(net, prefix, x, channels, last, text):
    names = {"a": x}
    for line in text.replace("\n", ";").split(";"):
        if not line.strip():
            continue
        output, kind, *inputs = line.split()
        inputs = [names[name] for name in inputs]
        names[output] = name = f"{prefix}_{output}"
        if kind == "conv":
            net.conv(name, *inputs, channels)
        elif kind == "depthwise":
            net.depthwise(name, *inputs, relu=True)
        elif kind == "concat":
            net.concat(name, inputs)
        elif kind == "add":
            net.add(name, inputs, relu=True)
        else:
            net.conv(name, *inputs, last, relu=kind == "projection")
    return names["sum"]


def swiftnet():
    net = Net("swiftnet", (224, 224, 3))
    net.conv("stem1", "x", 16, (7, 7), 4)
    net.depthwise("stem2", "stem1", relu=True)
    net.conv("stem3", "stem2", 32)
    x = net.pool("max", "stem4", "stem3", 2, 2)
    for number, cell in enumerate(SWIFTNET_CELLS):
        x = swiftnet_cell(net, "ABC"[number], x, *cell)
        if number < 2:
            x = net.pool("max", f"pool{number}", x, 2, 2)
    net.pool("average", "out", x, 7, 7)
    return net


# Two edges per node, KIND SIZE and the node they come from; 0 and 1 are the two
# cells before.  The result of a cell are the nodes named last, side by side.
GENOTYPES = {
    "nasnet": (
        "sep5 1 sep3 0  sep5 0 sep3 0  avg3 1 skip 0  avg3 0 avg3 0"
        "  sep3 1 skip 1", [2, 3, 4, 5, 6],
        "sep5 1 sep7 0  max3 1 sep7 0  avg3 1 sep5 0  skip 3 avg3 2"
        "  sep3 2 max3 1", [4, 5, 6]),
    "amoebanet": (
        "avg3 0 max3 1  sep3 0 sep5 2  sep3 0 avg3 3  sep3 1 skip 1"
        "  skip 0 avg3 1", [4, 5, 6],
        "avg3 0 sep3 1  max3 0 sep7 2  sep7 0 avg3 1  max3 0 max3 1"
        "  row7 0 sep3 5", [3, 4, 6]),
    "darts_v1": (
        "sep3 1 sep3 0  skip 0 sep3 1  skip 0 sep3 1  sep3 0 skip 2",
        [2, 3, 4, 5],
        "max3 0 max3 1  skip 2 max3 0  max3 0 skip 2  skip 2 avg3 0",
        [2, 3, 4, 5]),
    "darts_v2": (
        "sep3 0 sep3 1  sep3 0 sep3 1  sep3 1 skip 0  skip 0 dil3 2",
        [2, 3, 4, 5],
        "max3 0 max3 1  skip 2 max3 1  max3 0 skip 2  skip 2 max3 1",
        [2, 3, 4, 5]),
    "pnasnet": (
        "sep5 0 max3 0  sep7 1 max3 1  sep5 1 sep3 1  sep3 4 max3 1"
        "  sep3 0 avg1 1", [2, 3, 4, 5, 6],
        "sep5 0 max3 0  sep7 1 max3 1  sep5 1 sep3 1  sep3 4 max3 1"
        "  sep3 0 avg1 1", [2, 3, 4, 5, 6]),
}


def edge(net, prefix, kind, x, channels, stride):
    """One operation of a cell, with ReLU in its 1x1 convolutions."""
    if kind == "skip":
        return x if stride == 1 else net.pool("max", prefix + "p", x, 1, stride)
    word, size = kind[:3], int(kind[3:])
    if word == "sep":
        x = net.depthwise(prefix + "a", x, size, stride)
        x = net.conv(prefix + "b", x, channels)
        x = net.depthwise(prefix + "c", x, size)
        return net.conv(prefix + "d", x, channels)
    if word == "dil":
        x = net.depthwise(prefix + "a", x, size, stride, dilation=2)
        return net.conv(prefix + "b", x, channels)
    if word == "row":
        x = net.conv(prefix + "a", x, channels, (1, size), 1)
        return net.conv(prefix + "b", x, channels, (size, 1), stride)
    return net.pool({"avg": "average", "max": "max"}[word], prefix + "p", x,
                    size, stride)


def cell(net, prefix, nodes, edges, results, channels, stride):
    """Nodes 0 and 1 are given; each other one is the sum of its two edges."""
    words = edges.split()
    pairs = list(zip(words[::2], map(int, words[1::2])))
    nodes = list(nodes)
    for number in range(len(pairs) // 2):
        operands = []
        for side, (kind, node) in enumerate(pairs[2 * number:2 * number + 2]):
            operands.append(edge(net, f"{prefix}n{number}e{side}", kind,
                                 nodes[node], channels,
                                 stride if node < 2 else 1))
        nodes.append(net.add(f"{prefix}n{number}", operands))
    return net.concat(f"{prefix}cat", [nodes[node] for node in results])


def stack(name):
    """A stem, a cell, one that halves the picture, one more, the classifier."""
    normal, normal_results, halving, halving_results = GENOTYPES[name]
    net = Net(name, (32, 32, 3))
    before = last = net.conv("stem", "x", 48, (3, 3))
    channels = 16
    for number, stride in enumerate((1, 2, 1)):
        channels *= stride
        prefix = f"c{number}"
        shrink = net.shapes[before][0] // net.shapes[last][0]
        nodes = [net.conv(prefix + "s0", before, channels, stride=shrink),
                 net.conv(prefix + "s1", last, channels)]
        edges, results = ((halving, halving_results) if stride == 2 else
                          (normal, normal_results))
        before, last = last, cell(net, prefix, nodes, edges, results, channels,
                                  stride)
    net.dense("out", net.mean("gap", last), 10)
    return net


def darts_cell():
    """The normal cell of DARTS V2 at SERENITY's size, and the first convolution
    of whatever follows."""
    net = Net("darts_cell", (28, 28, 3))
    nodes = [net.conv("s0", "x", 48), net.conv("s1", "x", 48)]
    edges, results, _, _ = GENOTYPES["darts_v2"]
    net.conv("out", cell(net, "", nodes, edges, results, 48, 1), 48)
    return net


def four_branches():
    """A concat before a depthwise convolution of stride 2."""
    net = Net("four_branches", (64, 64, 3))
    stem = net.conv("stem", "x", 8, (3, 3), 2)
    branches = []
    for number in range(4):
        x = net.conv(f"wide{number}", stem, 16)
        branches.append(net.conv(f"branch{number}", x, 16, (3, 3)))
    x = net.depthwise("half", net.concat("cat", branches), 3, 2, relu=True)
    net.mean("out", net.conv("mixed", x, 32))
    return net


def traps():
    """Concats in a concat, of a tensor twice and of the input; behind them
    windows with strides, gaps, uneven padding, a multiplier, and bounds."""
    net = Net("traps", (16, 16, 6))
    a = net.conv("a", "x", 8, (3, 3))
    b = net.conv("b", "x", 10, relu=6)
    inner = net.concat("inner", [a, "x"])
    outer = net.concat("outer", [inner, b, a])
    terms = [
        net.conv("large", outer, 12, (5, 5), 2, relu=6),
        net.conv("small", inner, 12, (3, 3), 2, relu=False),
        net.conv("doubled", net.depthwise("double", outer, 3, 2, relu=6,
                                          multiplier=2), 12, relu=False),
        net.conv("pooled", net.pool("max", "highest", outer, 3, 2), 12),
        net.pool("average", "gaps", net.conv("gap", outer, 12, (3, 3),
                                             dilation=2), 2, 2)]
    total = terms[0]
    for number, term in enumerate(terms[1:]):
        total = net.add(f"sum{number}", [total, term], relu=number == 3)
    net.mean("out", total)
    return net


STACKS = list(GENOTYPES)
BUILDERS = {"swiftnet": swiftnet, "darts_cell": darts_cell,
            "four_branches": four_branches, "traps": traps}


def build(name):
    return stack(name) if name in GENOTYPES else BUILDERS[name]()
