"""Models whose graphs run other graphs, and odd ones, made here: TensorFlow
Lite Micro takes the predicted arena and computes the same after planning."""
import pytest

import checks
import runtimes
import tool
from tflite_build import File

BIG, SMALL = [1, 512], [1, 64]


def chain(graph, source, count, last=None, shape=BIG):
    """LOGISTIC after LOGISTIC; the last one writes `last`, if that is given."""
    for step in range(count):
        final = step == count - 1 and last is not None
        result = last if final else graph.tensor(f"s{source}_{step}", shape)
        graph.op("LOGISTIC", [source], [result])
        source = result
    return source


def body_of_chain(file, count):
    """A graph of one input, one output and operators in a row."""
    graph = file.graph()
    x = graph.tensor("x", BIG, graph.inputs)
    y = graph.tensor("y", BIG, graph.outputs)
    chain(graph, x, count, y)
    return graph


def body_of_sum(file):
    """A graph whose input lives long: x + f(f(x))."""
    graph = file.graph()
    x = graph.tensor("x", BIG, graph.inputs)
    y = graph.tensor("y", BIG, graph.outputs)
    graph.op("ADD", [x, chain(graph, x, 2)], [y])
    return graph


def two_branches(path):
    """IF between operators; a tensor lives across it."""
    file = File()
    main = file.graph()
    flag = main.tensor("flag", [1], main.inputs, "bool")
    x = main.tensor("x", BIG, main.inputs)
    y = main.tensor("y", BIG, main.outputs)
    across, inside = chain(main, x, 1), main.tensor("inside", BIG)
    then, other = body_of_chain(file, 3), body_of_sum(file)
    main.op("IF", [flag, across], [inside], thenSubgraphIndex=then.index,
            elseSubgraphIndex=other.index)
    main.op("ADD", [across, inside], [y])
    return file.write(path)


def counting_loop(path):
    """WHILE over a counter, data, and an input that no operator of the loop
    uses."""
    file = File()
    main, condition, body = file.graph(), file.graph(), file.graph()
    start = main.tensor("start", [1], main.inputs, "int32")
    x = main.tensor("x", BIG, main.inputs)
    bystander = main.tensor("bystander", SMALL, main.inputs)
    results = [main.tensor("count", [1], main.outputs, "int32"),
               main.tensor("y", BIG, main.outputs),
               main.tensor("bystander_out", SMALL, main.outputs)]
    main.op("WHILE", [start, x, bystander], results,
            condSubgraphIndex=condition.index, bodySubgraphIndex=body.index)

    for graph in (condition, body):
        graph.tensor("i", [1], graph.inputs, "int32")
        graph.tensor("data", BIG, graph.inputs)
        graph.tensor("rest", SMALL, graph.inputs)
    limit = condition.tensor("limit", [1], None, "int32", [7])
    condition.op("LESS", [0, limit], [
        condition.tensor("go_on", [1], condition.outputs, "bool")])
    one = body.tensor("one", [1], None, "int32", [1])
    body.op("ADD", [0, one], [body.tensor("i2", [1], body.outputs, "int32")])
    body.op("MUL", [1, chain(body, 1, 2)],
            [body.tensor("data2", BIG, body.outputs)])
    body.outputs.append(2)
    return file.write(path)


def branch_in_branch(path):
    """IF inside the body of IF."""
    file = File()
    main = file.graph()
    flag = main.tensor("flag", [1], main.inputs, "bool")
    x = main.tensor("x", BIG, main.inputs)
    y = main.tensor("y", BIG, main.outputs)
    outer, inner = file.graph(), body_of_chain(file, 4)
    other, plain = body_of_sum(file), file.graph()
    main.op("IF", [flag, flag, x], [y], thenSubgraphIndex=outer.index,
            elseSubgraphIndex=plain.index)
    for graph in (outer, plain):
        graph.tensor("flag", [1], graph.inputs, "bool")
        graph.tensor("x", BIG, graph.inputs)
    between = chain(outer, 1, 1)
    outer.op("IF", [0, between], [outer.tensor("y", BIG, outer.outputs)],
             thenSubgraphIndex=inner.index, elseSubgraphIndex=other.index)
    plain.op("ADD", [1, chain(plain, 1, 1)],
             [plain.tensor("y", BIG, plain.outputs)])
    return file.write(path)


def state_set_once(path):
    """CALL_ONCE fills a variable; each run reads it and writes it back."""
    file = File()
    main, setup = file.graph(), file.graph()
    x = main.tensor("x", SMALL, main.inputs)
    y = main.tensor("y", SMALL, main.outputs)
    handle = main.tensor("handle", [1], None, "resource")
    value, total = main.tensor("v", SMALL), main.tensor("t", SMALL)
    names = {"container": b"", "sharedName": b"state"}
    main.op("CALL_ONCE", [], [], initSubgraphIndex=setup.index)
    main.op("VAR_HANDLE", [], [handle], **names)
    main.op("READ_VARIABLE", [handle], [value])
    main.op("ADD", [value, x], [total])
    main.op("ASSIGN_VARIABLE", [handle, total], [])
    chain(main, total, 2, y, SMALL)

    first = setup.tensor("first", SMALL, None, data=[0.5] * 64)
    scaled = setup.tensor("scaled", SMALL)
    inner = setup.tensor("handle", [1], None, "resource")
    setup.op("VAR_HANDLE", [], [inner], **names)
    setup.op("LOGISTIC", [first], [scaled])
    setup.op("ASSIGN_VARIABLE", [inner, scaled], [])
    return file.write(path)


def early_outputs(path):
    """Outputs that are ready long before the end, next to a costly rest."""
    file = File()
    main = file.graph()
    x = main.tensor("x", BIG, main.inputs)
    early = main.tensor("early", BIG, main.outputs)
    late = main.tensor("late", BIG, main.outputs)
    main.op("LOGISTIC", [x], [early])
    chain(main, early, 4, late)
    return file.write(path)


def loose_ends(path):
    """An input that nobody reads, a tensor that nobody touches, and a result
    that nobody wants."""
    file = File()
    main = file.graph()
    main.tensor("unread", SMALL, main.inputs)
    x = main.tensor("x", BIG, main.inputs)
    main.tensor("untouched", BIG)
    y = main.tensor("y", BIG, main.outputs)
    main.op("LOGISTIC", [x], [main.tensor("unwanted", SMALL + [8])])
    chain(main, x, 3, y)
    return file.write(path)


def wide_then_narrow(path):
    """Branches that grow before they shrink: the order matters."""
    file = File()
    main = file.graph()
    x = main.tensor("x", SMALL, main.inputs)
    y = main.tensor("y", SMALL, main.outputs)
    wide = [main.tensor(f"wide{i}", BIG) for i in range(4)]
    for branch in wide:
        main.op("CONCATENATION", [x] * 8, [branch], axis=1)
    narrow = []
    zero = main.tensor("begin", [2], None, "int32", [0, 0])
    size = main.tensor("size", [2], None, "int32", SMALL)
    for i, branch in enumerate(wide):
        narrow.append(main.tensor(f"narrow{i}", SMALL))
        main.op("SLICE", [branch, zero, size], [narrow[-1]])
    total = narrow[0]
    for i, branch in enumerate(narrow[1:]):
        result = y if i == 2 else main.tensor(f"sum{i}", SMALL)
        main.op("ADD", [total, branch], [result])
        total = result
    return file.write(path)


BUILDERS = [two_branches, counting_loop, branch_in_branch, state_set_once,
            early_outputs, loose_ends, wide_then_narrow]


@pytest.fixture(params=BUILDERS, ids=lambda build: build.__name__)
def built(request, tmp_path):
    return request.param(tmp_path / f"{request.param.__name__}.tflite")


def test_default_head_is_predicted(built, tmp_path):
    tool.need("plan", "tflm")
    checks.assert_default_head(built, tmp_path)


def test_plan(built, tmp_path):
    out = tmp_path / "out.tflite"
    checks.assert_same(built, out, tool.write(built, out))


def test_plan_in_place(built, tmp_path):
    tool.need("plan", "--kernels")
    out = tmp_path / "out.tflite"
    planned = tool.write(built, out, "--kernels", "reference")
    checks.assert_same(built, out, planned)


def test_models_do_something(built):
    """The models themselves run, and their outputs vary."""
    first, second = runtimes.tflm(built)["outputs"]
    assert first != second
