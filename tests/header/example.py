#!/usr/bin/env python3
"""Make a program of the worked example in a header's first comment.

    example.py HEADER OUT.c
"""
import re
import sys

BEGIN, END = "A complete use:", "Conventions."

PROGRAM = """#include <calm/calm.h>
#include <inttypes.h>
#include <stdio.h>

int main(void) {{
{example}
  return 0;
}}
"""


def extract(header):
    comment = header[header.index(BEGIN) + len(BEGIN):header.index(END)]
    lines = [re.sub(r"^ \* ?", "", line) for line in comment.splitlines()]
    return "\n".join(lines).strip("\n")


def main(header_path, out_path):
    with open(header_path) as file:
        example = extract(file.read())
    with open(out_path, "w") as file:
        file.write(PROGRAM.format(example=example))


if __name__ == "__main__":
    main(*sys.argv[1:])
