#!/usr/bin/env python3
"""Both libraries offer what the header declares, and nothing else.

    symbols.py HEADER LIBRARY.a LIBRARY.so
"""
import os
import re
import subprocess
import sys


def declared(path):
    with open(path) as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    # From the marker to the parenthesis that opens the parameters.
    found = re.findall(r"^CALM_API\b[^(;]*?\b(\w+)\(", text, flags=re.M)
    return set(found)


def defined(path, *options):
    out = subprocess.run([os.environ.get("NM", "nm"), "--defined-only",
                          "--extern-only", *options, path],
                         check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"^[0-9a-f]+ [A-Z] (\S+)$", out, flags=re.M))


def main(header, static, shared):
    wanted = declared(header)
    faults = 0
    for path, found in ((static, defined(static)),
                        (shared, defined(shared, "--dynamic"))):
        for name in sorted(wanted - found):
            print(f"{path}: {name} is declared but not defined")
        for name in sorted(found - wanted):
            print(f"{path}: {name} is visible but not declared")
        faults += len(wanted ^ found)
    print(f"{len(wanted)} functions declared, {faults} faults")
    return 1 if faults or not wanted else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
