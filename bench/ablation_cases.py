"""The problems on which rules are switched off one at a time: small enough that
most searches end without them, hard enough that it shows."""
import dataclasses
import pathlib

import layout_buffers as buffers
import order_graphs as graphs


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    suffix: str
    text: str
    arguments: tuple = ()

    def write(self, folder):
        path = pathlib.Path(folder, self.name.replace(" ", "-") + self.suffix)
        path.write_text(self.text)
        return path


def order_case(name, preds, most=1, outputs=1, **kinds):
    sizes = graphs.random_sizes(len(preds), most, 0)
    return Case(name, ".cg", graphs.graph_text("g", preds, sizes, outputs,
                                               **kinds),
                ("--memory", "plain", "--inplace", "elementwise"))


def order_cases():
    cells = {n: graphs.watts_strogatz(n, 0) for n in (62, 80, 100)}
    yield order_case("ws62", cells[62])
    yield order_case("ws100", cells[100])
    yield order_case("wr80", cells[80], 8)
    yield order_case("wi62", cells[62], 8, inplace=0.5, workspace=0.3)
    yield order_case("layered", graphs.layered(500, 8, 0), 64, 8)
    yield order_case("wide", graphs.layered(2000, 16, 0), 64, 16)
    yield order_case("sp", graphs.series_parallel(1000, 0), 64)
    yield order_case("nas", graphs.nas_stack(10, 5, 10), 8)


def layout_cases():
    for name, found in (
            ("cuts154", buffers.cuts(154, 100, 1)),
            ("cuts213", buffers.cuts(213, 24, 0)),
            ("cuts308", buffers.cuts(308, 1 << 20, 2, left_out=0.01)),
            ("slack308", buffers.cuts(308, 1 << 20, 1, left_out=0.06)),
            ("full24", buffers.full(24, 18, 8, 0)),
            ("full24b", buffers.full(24, 18, 8, 1)),
            ("full40", buffers.full(40, 30, 12, 0))):
        yield Case(name, ".csv", buffers.text(found))


CASES = {"order": list(order_cases()), "layout": list(layout_cases())}
