"""The C library as Python sees it: contexts, options, files, calls.

One context per result: it owns all memory of that result, and a lock makes sure that
one thread at a time is in it.
"""
from __future__ import annotations

import difflib
import json
import logging
import os
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from calm._calm import ffi, lib
from calm.errors import BY_STATUS

T = TypeVar("T")
logger = logging.getLogger("calm")

# Texts live as long as the arrays that point to them.
_texts: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()

_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)  # by calm_log_level


@ffi.def_extern()  # type: ignore[untyped-decorator]
def calm_python_log(payload: Any, level: int, line: Any) -> None:
    ffi.from_handle(payload)(_LEVELS[level], text_of(line))


def text_of(pointer: Any) -> str:
    """A text of the library; what is not UTF-8 in it becomes ``\\xHH``."""
    return bytes(ffi.string(pointer)).decode("utf-8", "backslashreplace")


def path_bytes(path: str | os.PathLike[str]) -> bytes:
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise ValueError("a path cannot hold a null character")
    return encoded


class Context:
    """A context of the library, and what it borrows from Python."""

    def __init__(self) -> None:
        self.pointer = ffi.gc(lib.calm_context_new(ffi.NULL), lib.calm_context_free)
        if not self.pointer:
            raise MemoryError
        self.lock = threading.RLock()
        self.interrupted = False
        self._lent: dict[bytes, Any] = {}
        self._log = ffi.new_handle(logger.log)
        lib.calm_context_set_log(self.pointer, lib.calm_python_log, self._log)

    def check(self, status: int) -> None:
        """Raise what a status stands for."""
        if status != lib.CALM_OK:
            raise BY_STATUS[status - 1](text_of(lib.calm_context_message(self.pointer)))

    def make(self, type_name: str, free: Callable[[Any], None],
             call: Callable[[Any], int], parent: Any = None) -> Any:
        """What a call yields in its ``out``: freed once nobody has it, and before the
        ``parent`` that it was made from and the context."""
        out = ffi.new(f"{type_name} **")
        with self.lock:
            self.check(call(out))

        def release(pointer: Any, context: Context = self, parent: Any = parent) -> None:
            with context.lock:
                free(pointer)
        return ffi.gc(out[0], release)

    def text(self, call: Callable[[Any], int]) -> str:
        """The text that a call yields in its ``out``."""
        out = ffi.new("char **")
        with self.lock:
            self.check(call(out))
            try:
                return text_of(out[0])
            finally:
                lib.calm_text_free(self.pointer, out[0])

    def lend(self, name: str, content: bytes) -> str:
        """A file from memory, for as long as the context lives."""
        buffer = ffi.from_buffer(content)
        encoded = path_bytes(name)
        self.check(lib.calm_context_lend(self.pointer, encoded, buffer, len(content)))
        self._lent[encoded] = buffer
        return name

    def run(self, call: Callable[[], T]) -> T:
        """A call that may take long.  Ctrl-C stops its search, which then yields the
        best so far; a second one does not wait for that."""
        if threading.current_thread() is not threading.main_thread():
            return call()
        result: T = _Interruptible(self, call).result()
        return result


class _Interruptible:
    """A call in another thread, so that this one can hear Ctrl-C."""

    def __init__(self, context: Context, call: Callable[[], Any]) -> None:
        self.context, self.call = context, call
        self.done = threading.Event()
        self.value: Any = None
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self.work, name="calm", daemon=True)

    def work(self) -> None:
        try:
            self.value = self.call()
        except BaseException as error:  # handed on by result()
            self.error = error
        self.done.set()

    def result(self) -> Any:
        self.thread.start()
        while not self.done.is_set():
            try:
                self.done.wait()
            except KeyboardInterrupt:
                if self.context.interrupted:
                    raise
                self.context.interrupted = True
                lib.calm_context_interrupt(self.context.pointer)
                logger.warning("interrupted; once more not to wait for the best so far")
        self.thread.join()
        if self.error:
            raise self.error
        return self.value


# ---- Options ------------------------------------------------------------------------

def option_rows() -> list[Any]:
    """The library's table of options."""
    rows: list[Any] = []
    while row := lib.calm_option_at(len(rows)):
        rows.append(row)
    return rows


def options_of(verb: str) -> dict[str, str]:
    """The options that a verb takes: by name, what their value looks like."""
    return {text_of(row.name): text_of(row.value) if row.value else ""
            for row in option_rows() if verb in text_of(row.verbs).split()}


def _unknown(verb: str, keyword: str, name: str) -> TypeError:
    others = [text_of(row.verbs) for row in option_rows() if text_of(row.name) == name]
    if others:
        return TypeError(f"{keyword} is no option of {verb}; it belongs to "
                         f"{', '.join(' '.join(others).split())}")
    near = difflib.get_close_matches(name, options_of(verb), 1)
    hint = f"; did you mean {near[0].replace('-', '_')}?" if near else ""
    return TypeError(f"{verb} has no option {keyword}{hint}")


def _words(value: Any) -> list[str]:
    """A value as the words that the table of options takes."""
    if isinstance(value, bool):
        return ["on" if value else "off"]
    if isinstance(value, Mapping):
        return [f"{key}={item}" for key, item in value.items()]
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [word for item in value for word in _words(item)]
    return [str(value)]


class Options:
    """Options of a verb, from keywords: ``time_limit=5`` is ``--time-limit 5``."""

    def __init__(self, context: Context, verb: str, given: Mapping[str, Any]) -> None:
        self.context = context
        self.known = options_of(verb)
        self.pointer = context.make("calm_options", lib.calm_options_free,
                                    lambda out: lib.calm_options_new(out, context.pointer))
        for keyword, value in given.items():
            name = keyword.rstrip("_").replace("_", "-")
            if name not in self.known:
                raise _unknown(verb, keyword, name)
            if value is not None:
                self.set(name, value)

    def set(self, name: str, value: Any) -> None:
        """A list is a value after the other, or one with commas, as the option is."""
        if self.known[name] == "FILE":
            items = value if isinstance(value, list) else [value]
            words = [File(self.context, item, f"<{name}>").name for item in items]
        else:
            words = _words(value)
        if ",..." in self.known[name]:
            words = [",".join(words)]
        for word in words:
            self.context.check(lib.calm_options_set(
                self.pointer, name.encode(), path_bytes(word)))


# ---- Files --------------------------------------------------------------------------

class File:
    """A file that the library reads: a path, its content as bytes, an object of YAML as
    a dict, or a protobuf such as ``onnx.ModelProto``."""

    def __init__(self, context: Context, source: Any, name: str) -> None:
        if isinstance(source, (str, os.PathLike)):
            self.name = os.fspath(source)
        else:
            self.name = context.lend(name, _content(source))
        self.encoded = path_bytes(self.name)


def _content(source: Any) -> bytes:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if isinstance(source, Mapping):
        return json.dumps(source).encode()  # which is YAML as well
    if hasattr(source, "SerializeToString"):
        return bytes(source.SerializeToString())
    raise TypeError(f"a {type(source).__name__} is no file: give a path, bytes, a dict of "
                    "YAML, or an onnx.ModelProto")


def paths(files: Sequence[File]) -> Any:
    """The names of files as the C array that the library takes; the caller keeps it."""
    texts = [ffi.new("char[]", file.encoded) for file in files]
    array = ffi.new("const char *[]", texts)
    _texts[array] = texts
    return array
