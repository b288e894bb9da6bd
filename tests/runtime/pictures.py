"""Inputs with structure: what a wrong row or a wrong border of a picture changes.

Random numbers hide errors at borders, because everything is different
everywhere; a constant, a ramp or a blob shows them.
"""
import numpy

import runner

TWICE = 2  # invocations with the same input, one after the other


def grid(shape):
    """Rows, columns and channels of a tensor, each from 0 to 1, by the last
    three axes."""
    axes = [numpy.linspace(0, 1, size) for size in shape]
    axes = numpy.meshgrid(*axes, indexing="ij") if axes else []
    zero = numpy.zeros(shape)
    return [*[zero] * max(0, 3 - len(axes)), *axes][-3:]


def constant(shape, random):
    return numpy.full(shape, 0.3)


def ramp_down(shape, random):
    return grid(shape)[0]


def ramp_across(shape, random):
    return grid(shape)[1]


def checkerboard(shape, random):
    return numpy.indices(shape).sum(0) % 2


def sine(shape, random):
    rows, columns, channels = grid(shape)
    return 0.5 + 0.5 * numpy.sin(23 * rows + 17 * columns + 2 * channels)


def blob(shape, random):
    rows, columns, channels = grid(shape)
    distance = (rows - 0.4)**2 + (columns - 0.6)**2
    return numpy.exp(-20 * distance) * (1 - channels / 2)


def noise(shape, random):
    return random.uniform(0, 1, shape)


def random_walk(shape, random):
    steps = random.standard_normal(int(numpy.prod(shape))).cumsum()
    spread = numpy.ptp(steps) or 1
    return ((steps - steps.min()) / spread).reshape(shape)


PICTURES = [constant, ramp_down, ramp_across, checkerboard, sine, blob, noise,
            random_walk]


def invocations(randoms):
    """How often to invoke for all pictures and some random inputs."""
    return TWICE * (len(PICTURES) + randoms)


def make_input(shape, dtype, index, invocation, seed=runner.SEED):
    """As runner.make_input: pictures, each TWICE, then random numbers."""
    number, dtype = invocation // TWICE, numpy.dtype(dtype)
    if number >= len(PICTURES) or dtype.kind == "b" or (
            dtype.kind in "iu" and dtype.itemsize > 2):
        return runner.make_input(shape, dtype, index, number, seed)
    random = numpy.random.default_rng([seed, number, index])
    picture = PICTURES[number](tuple(int(size) for size in shape), random)
    if dtype.kind == "f":
        return (2 * picture - 1).astype(dtype)
    limits = numpy.iinfo(dtype)
    span = float(limits.max) - limits.min
    return numpy.round(limits.min + span * picture).astype(dtype)
