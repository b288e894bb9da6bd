"""Run a written Net in a runtime, and hold its outputs against the truth."""
import functools

import numpy

import net_files
import net_values
import nets
import partial_sums
import runner
import runtimes

build = functools.cache(nets.build)
# TensorFlow Lite Micro, LiteRT with two sets of kernels, ONNX Runtime.
RUNTIMES = {"tflite": ("tflm", "reference", "xnnpack"), "onnx": ("ort",)}
NEAR = 1e-5  # of the largest output
TIMES = 10  # so often the original's distance to the truth


def kind_of(runtime):
    return "onnx" if runtime == "ort" else "tflite"


def picture(kind, array):
    """Height x width x channels, or the channels alone."""
    array = array[0]
    return numpy.moveaxis(array, 0, -1) if kind == "onnx" else array


def last_input(net, kind):
    """What a runner feeds at its last invocation."""
    *size, channels = net.shapes["x"]
    shape = [1, channels, *size] if kind == "onnx" else [1, *size, channels]
    return runner.make_input(shape, "float32", 0, runner.INVOCATIONS - 1)


@functools.cache
def truth(name, kind):
    net = build(name)
    return net_values.evaluate(net, picture(kind, last_input(net, kind)))


def tensors(net, kind, path):
    """All activations by name, with the simplest kernels."""
    if kind == "onnx":
        return {"x": last_input(net, kind)} | runtimes.ort_values(path)
    names = partial_sums.tflite_names(path)
    return {names[index]: array for index, array in
            runtimes.litert_values(path).items()}


def first_output(runtime, path):
    """Of any model, with one output of its own."""
    script, *mode = {"ort": ["run_ort.py"], "tflm": ["run_tflm.py"]}.get(
        runtime, ["run_litert.py", runtime])
    value, = runtimes.kept(script, *mode, path).values()
    return value


def output(runtime, path):
    return picture(kind_of(runtime), first_output(runtime, path))


@functools.cache
def original(runtime, name):
    return output(runtime, net_files.path_of(name, kind_of(runtime)))


def largest(array):
    return float(numpy.abs(array).max())


def assert_near(name, out, *names):
    """The outputs of a rewritten file, in some runtimes, are near those of the
    original, and not much further from the truth."""
    for runtime in names:
        kind = kind_of(runtime)
        exact = truth(name, kind)
        before = original(runtime, name)
        after = output(runtime, out)
        assert largest(after - before) <= NEAR * largest(exact)
        assert largest(after - exact) <= TIMES * largest(before - exact)


def layer_of(net, tensor):
    """The layer that makes a tensor, which may lack its ReLU."""
    name = tensor.removesuffix("/linear")
    layer, = [layer for layer in net.layers if layer.output == name]
    return layer


def assert_sums(name, kind, out):
    """Each partial sum is as close to the truth, for the operands that it has,
    as arithmetic promises in any order.  The number of them."""
    net = build(name)
    written = partial_sums.READERS[kind](out)
    values = tensors(net, kind, out)
    ends = [layer.output + ("/linear" if layer.relu and kind == "onnx" else "")
            for layer in net.layers if layer.kind == "conv"]
    count = 0
    for found in written.sums(ends):
        layer = layer_of(net, found.output)
        operands = [picture(kind, values[x]) for x in found.operands]
        exact, bound = net_values.sum_and_bound(layer, operands, found.weights)
        exact = net_values.bounded(exact, found.relu)
        result = picture(kind, values[found.output])
        assert (numpy.abs(result - exact) <= bound).all()
        count += 1
    return count
