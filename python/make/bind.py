"""Make the C source of the extension module out of the public header.

    bind.py HEADER OUT.c

What Python may call is what calm.h declares and nothing else: the declarations
are read from it, so that the two cannot drift apart.
"""
import pathlib
import re
import sys

import cffi

# Where the library calls Python: a line of the story (calm_log_function).
CALLBACKS = """
extern "Python" void calm_python_log(void *, calm_log_level, const char *);
"""


def declarations(header):
    """The declarations of a header as cffi reads them: comments, C++ and
    preprocessor out; macros that are numbers or texts as constants."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.S)
    macros = re.findall(r"^#define (CALM_\w+) +(\S.*)$", text, flags=re.M)
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    text = re.sub(r"\bCALM_API\b", "", text)
    return text + "".join(constant(*macro) for macro in macros)


def constant(name, value):
    if value.startswith('"'):
        return f"static char *const {name};\n"
    return "" if "__" in value else f"#define {name} ...\n"


def main():
    header, out = map(pathlib.Path, sys.argv[1:])
    builder = cffi.FFI()
    builder.cdef(declarations(header.read_text()) + CALLBACKS)
    builder.set_source("calm._calm", '#include "calm/calm.h"',
                       py_limited_api=True)
    builder.emit_c_code(str(out))


if __name__ == "__main__":
    main()
