#!/usr/bin/env python3
"""The rank of rooms, as a test.

Walks the #include lines of src/, cli/ and include/ and reports each one that
goes against the rank of rooms (ARCHITECTURE.md), each file whose name does not
say which room it belongs to, each header that does not begin with a comment,
and each line of C that is too long.

    rank.py ROOT          check a source tree; exit 1 if anything is reported
    rank.py --self-test   plant breaches in a copy that is clean; each must be
                          reported
"""
import pathlib
import re
import sys
import tempfile

# What each room may include, besides itself and calm/calm.h: whole rooms
# ("graph") or single doors ("order/order.h").
RANK = {
    "base": set(),
    "graph": {"base"},
    "model": {"base", "graph"},
    "rewrite": {"base", "graph"},
    # What kernels do with memory, and how pictures are cut.
    "kernel": {"base", "graph"},
    "tile": {"base", "graph"},
    # The memory room builds the problems that order and layout solve.
    "memory": {"base", "graph", "kernel", "order/order.h",
               "layout/layout.h", "traffic/traffic.h"},
    "order": {"base"},
    "layout": {"base"},
    # What moves, and the order that moves least, on the arrays of `order`.
    "traffic": {"base", "order/order.h"},
    # Graphs are needed in the one file that extracts layers.
    "accel": {"base", "graph"},
    "cost": {"base", "accel"},
    "mapper": {"base", "accel", "cost"},
    # The steps of the pipeline plan.c, which know every room but the last.
    "plan": {"base", "graph", "model", "rewrite", "tile", "kernel", "memory",
             "order/order.h", "layout/layout.h", "traffic/traffic.h", "plan.h", "pipeline.h",
             "pipeline_traffic.h",
             "write_read_back.h"},
    # Reports print results: the pipelines' and those of the rooms they hold.
    "report": {"base", "graph", "plan.h", "eval.h", "map.h", "model/model.h",
               "tile", "kernel", "memory", "order/order.h",
               "layout/layout.h", "layout/layout_csv.h", "traffic/traffic.h", "accel", "cost",
               "mapper"},
    # Many mappings, of which it knows what calm.h says, and a database.
    "sweep": {"base", "graph", "model", "accel", "report"},
    # Whole papers: everything is measured there.
    "bench": {"base", "graph", "model", "rewrite", "kernel", "memory", "order", "layout",
              "traffic", "accel", "cost", "mapper", "report", "plan", "plan.h",
              "map.h", "pipeline.h", "pipeline_accel.h"},
}

# Rooms whose files need not begin with the room's name, with the reason.
FREE_NAMES = {
    "base": "each file is a tool of its own: arena, hash, text",
}
# Tables are named for what their rows are, and page/ is no C.
FREE_SUFFIXES = {".def", ".css"}

LONGEST_LINE = 100
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def includes(path):
    """Each quoted include of a file, and <calm/...>, with its line number."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if match and (match[1] == '"' or match[2].startswith("calm/")):
            yield number, match[2]


def room_of(path):
    """The room of a path relative to src/; "" for the files at its top."""
    parts = pathlib.PurePosixPath(path).parts
    return parts[0] if len(parts) > 1 else ""


def resolve(root, source, name):
    """An include as a path relative to src/, or to cli/ for the tool."""
    beside = (source.parent / name).resolve()
    for top in (root / "src", root / "cli"):
        if beside.is_file() and top.resolve() in beside.parents:
            return beside.relative_to(top.resolve()).as_posix()
    return name


def check_include(room, name):
    """Why a file of a room must not include a file of src/, or None."""
    other = room_of(name)
    if name == "calm/calm.h" or other == room or room == "":
        return None
    if room not in RANK:
        return f"the room {room} has no rank yet: add it to {__file__}"
    if other in RANK[room] or name in RANK[room]:
        return None
    allowed = ", ".join(sorted(RANK[room])) or "nothing"
    return f"{room} may include {allowed}"


def check_library(root):
    source_root = root / "src"
    for path in sorted(source_root.rglob("*.[ch]")):
        relative = path.relative_to(source_root).as_posix()
        room = room_of(relative)
        for line, name in includes(path):
            reason = check_include(room, resolve(root, path, name))
            if reason:
                yield f"src/{relative}:{line}: includes {name}, but {reason}"


def check_tool(root):
    for path in sorted((root / "cli").rglob("*.[ch]")):
        for line, name in includes(path):
            own = (root / "cli" / pathlib.Path(name).name).is_file()
            if name != "calm/calm.h" and not ("/" not in name and own):
                yield (f"{path.relative_to(root)}:{line}: includes {name}, "
                       "but the tool sees calm/calm.h only")


def check_public(root):
    headers = sorted((root / "include").rglob("*.h"))
    for path in headers:
        for line, name in includes(path):
            if ".." in name or not (root / "include" / name).is_file():
                yield (f"{path.relative_to(root)}:{line}: includes {name}, "
                       "which is not installed")


# The reader of a file format is named after the format; who plans, planner.
FORMATS = {"model": ("flatbuffer", "tflite", "protobuf", "onnx"),
           "plan": ("planner",)}


def check_names(root):
    for path in sorted((root / "src").rglob("*.[chd]*")):
        room = room_of(path.relative_to(root / "src").as_posix())
        if not room or room in FREE_NAMES or path.suffix in FREE_SUFFIXES:
            continue
        prefixes = (room, *FORMATS.get(room, ()))
        if not any(path.stem == prefix or path.stem.startswith(prefix + "_")
                   for prefix in prefixes):
            yield (f"{path.relative_to(root)}: a file of the room {room} is "
                   f"called {room}_SOMETHING")


def check_text(root):
    for top in ("src", "cli", "include"):
        for path in sorted((root / top).rglob("*.[ch]")):
            lines = path.read_text().splitlines()
            shown = path.relative_to(root)
            if path.suffix == ".h" and not (lines and
                                            lines[0].startswith("/*")):
                yield f"{shown}:1: a header begins with a comment"
            for number, line in enumerate(lines, 1):
                if len(line) > LONGEST_LINE:
                    yield (f"{shown}:{number}: {len(line)} columns, more than "
                           f"{LONGEST_LINE}")


def check(root):
    """Every breach in a tree, one line each."""
    for rule in (check_library, check_tool, check_public, check_names,
                 check_text):
        yield from rule(root)


CLEAN = {
    "include/calm/calm.h": "/* all */\n#include <stdint.h>\n",
    "src/base/arena.h": "/* a */\n#include <calm/calm.h>\n",
    "src/graph/graph.h": '/* g */\n#include "base/arena.h"\n',
    "src/order/order.h": '/* o */\n#include "base/arena.h"\n',
    "src/order/order_exact.c": '#include "order_local.h"\n',
    "src/order/order_local.h": '/* l */\n#include "order.h"\n',
    "src/memory/memory.h":
        '/* m */\n#include "graph/graph.h"\n#include "order/order.h"\n',
    "src/plan.c": '#include "memory/memory.h"\n#include "order/order.h"\n',
    "cli/opt.h": "/* o */\n#include <calm/calm.h>\n",
    "cli/main.c": '#include "opt.h"\n#include <calm/calm.h>\n',
}

# Each is planted alone; the second text must occur in what is reported.
BREACHES = [
    ("src/base/x.c", '#include "graph/graph.h"\n', "src/base/x.c:1"),
    ("src/order/order_x.c", '\n  #  include "graph/graph.h"\n',
     "src/order/order_x.c:2"),
    ("src/order/order_x.c", '#include "../graph/graph.h"\n',
     "order may include base"),
    ("src/memory/memory_x.c", '#include "order/order_local.h"\n',
     "order/order_local.h"),
    ("src/graph/graph_x.c", '#include "plan.h"\n', "includes plan.h"),
    ("src/attic/attic.c", '#include "base/arena.h"\n', "attic has no rank"),
    ("cli/x.c", '#include "base/arena.h"\n', "cli/x.c:1"),
    ("cli/x.c", '#include "../src/base/arena.h"\n', "cli/x.c:1"),
    ("include/calm/more.h", '/* x */\n#include "base/arena.h"\n',
     "not installed"),
    ("src/order/helper.c", "", "order_SOMETHING"),
    ("src/order/order_x.h", "int x;\n", "begins with a comment"),
    ("src/base/x.c", "//" + "x" * 99 + "\n", "101 columns"),
]


def plant(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def self_test():
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        plant(root, CLEAN)
        noise = list(check(root))
        if noise:
            raise SystemExit(f"a clean tree is reported: {noise}")
    for name, text, expected in BREACHES:
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            plant(root, {**CLEAN, name: text})
            found = "\n".join(check(root))
            if expected not in found:
                raise SystemExit(f"{name} {text!r}: reported {found!r}")
    print(f"{len(BREACHES)} planted breaches, all reported")


def main(arguments):
    if arguments == ["--self-test"]:
        self_test()
        return 0
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    found = list(check(pathlib.Path(arguments[0])))
    print("\n".join(found) or "every room keeps its rank")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
