"""Write python/calm/options.py: the options of each verb as types, out of the library's
own table.  tests/python/test_options.py fails where the two differ.

    python python/make/options.py > python/calm/options.py
"""
import keyword
import re

from calm._library import option_rows, text_of

VERBS = ("inspect", "plan", "check", "pack", "eval", "map")
HEAD = '''"""The options of each verb, written by python/make/options.py out of the library's table
(src/base/options.def).  Keywords have ``_`` where the command line has ``-``.
"""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, Union

File = Union[str, "os.PathLike[str]", bytes, Mapping[str, Any]]
'''


def type_of(value):
    """What a value looks like, as a type."""
    if not value:
        return "bool"
    if re.fullmatch(r"[a-z0-9-]+(\|[a-z0-9-]+)+", value):
        return f"Literal[{', '.join(repr(word) for word in value.split('|'))}]"
    if value == "FILE":
        return "File | list[File]"
    if "=" in value:
        return "Mapping[str, Any] | Sequence[str] | str"
    return {"SECONDS": "float", "N": "int", "P": "int", "TICKS": "int",
            "SIZE": "int | str", "BYTES": "int | str"}.get(value, "str | int | Sequence[str | int]")


def rows_of(verb):
    """Rows of a verb by keyword, each once."""
    rows = {}
    for row in option_rows():
        if verb in text_of(row.verbs).split():
            name = text_of(row.name).replace("-", "_")
            rows[name + "_" * keyword.iskeyword(name)] = row
    return rows


def describe(row):
    initial = f" (default {text_of(row.initial)})" if row.initial else ""
    return text_of(row.help) + initial


def main():
    print(HEAD)
    for verb in VERBS:
        print(f"\nclass {verb.capitalize()}Options(TypedDict, total=False):\n"
              f'    """Of ``calm {verb}``."""\n')
        for name, row in rows_of(verb).items():
            print(f"    #: {describe(row)}")
            print(f"    {name}: {type_of(text_of(row.value) if row.value else '')} | None")
        print()


if __name__ == "__main__":
    main()
