"""Compute a Net in double precision, and how far a sum in floats may be off.

Pictures are arrays of height x width x channels.
"""
import numpy
from numpy.lib.stride_tricks import sliding_window_view

UNIT = 2.0 ** -24  # the largest relative error of rounding to a float


def padding(size, kernel, stride, dilation):
    """Places before and behind a row that make its length length / stride."""
    reach = (kernel - 1) * dilation + 1
    total = max(0, (-(-size // stride) - 1) * stride + reach - size)
    return total // 2, total - total // 2


def windows(layer, x, fill=0.0):
    """Height x width x channels x kernel height x kernel width."""
    pads = [padding(size, kernel, layer.stride, layer.dilation)
            for size, kernel in zip(x.shape, layer.kernel)]
    x = numpy.pad(x, [*pads, (0, 0)], constant_values=fill)
    step, gap = layer.stride, layer.dilation
    reach = [(size - 1) * gap + 1 for size in layer.kernel]
    views = sliding_window_view(x, reach, (0, 1))
    return views[::step, ::step, :, ::gap, ::gap]


def conv(layer, x, weight):
    """Without bias; weight is O H W I."""
    return numpy.einsum("yxcij,oijc->yxo", windows(layer, x), weight,
                        optimize=True)


def depthwise(layer, x, weight):
    """Weight is 1 H W O; as many outputs stand side by side for each input."""
    multiplier = weight.shape[3] // x.shape[2]
    return numpy.einsum("yxcij,ijc->yxc", windows(
        layer, numpy.repeat(x, multiplier, 2)), weight[0], optimize=True)


def average_pool(layer, x):
    """Places outside of the picture do not count."""
    total = windows(layer, x).sum((3, 4))
    return total / windows(layer, numpy.ones_like(x)).sum((3, 4))


def compute(layer, inputs):
    if layer.weight is not None:
        weight = layer.weight.astype(float)
        if layer.kind == "dense":
            return weight @ inputs[0] + layer.bias
        run = {"conv": conv, "depthwise": depthwise}[layer.kind]
        return run(layer, inputs[0], weight) + layer.bias
    if layer.kind == "max_pool":
        return windows(layer, inputs[0], -numpy.inf).max((3, 4))
    if layer.kind == "average_pool":
        return average_pool(layer, inputs[0])
    if layer.kind == "add":
        return inputs[0] + inputs[1]
    if layer.kind == "concat":
        return numpy.concatenate(inputs, 2)
    assert layer.kind == "mean"
    return inputs[0].mean((0, 1))


def bounded(value, relu):
    value = numpy.maximum(value, 0) if relu else value
    return numpy.minimum(value, 6) if relu == 6 else value


def evaluate(net, x):
    """The output for one picture."""
    values = {"x": x.astype(float)}
    for layer in net.layers:
        value = compute(layer, [values[name] for name in layer.inputs])
        values[layer.output] = bounded(value, layer.relu)
    return values[net.output]


def sum_and_bound(layer, operands, weights):
    """The sum of partial convolutions, and how far it may be from that in
    floats: g(n) = n u / (1 - n u) times the sum of all magnitudes, n the most
    operations that a term goes through, in whatever order they are done
    (Higham, Accuracy and Stability of Numerical Algorithms, 3.1).  Two such
    results are therefore no more than twice that apart.
    """
    total = layer.bias.astype(float)
    magnitude = numpy.abs(total)
    for x, weight in zip(operands, weights):
        x, weight = x.astype(float), weight.astype(float)
        total = total + conv(layer, x, weight)
        magnitude = magnitude + conv(layer, numpy.abs(x), numpy.abs(weight))
    terms = sum(weight[0].size for weight in weights) + len(weights) + 1
    return total, magnitude * (terms * UNIT / (1 - terms * UNIT))
