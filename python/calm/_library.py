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


def _end(context: Any, made: list[tuple[Any, Callable[[Any], None]]],
         _kept: list[Any]) -> None:
    """Free a context that nobody has any more, and all that was made from it."""
    for pointer, free in reversed(made):
        free(pointer)
    lib.calm_context_free(context)


class Context:
    """A context of the library.  All that is made from it lives as long as it does, so that
    nothing depends on the order in which Python collects garbage."""

    def __init__(self) -> None:
        self.pointer = lib.calm_context_new(ffi.NULL)
        if not self.pointer:
            raise MemoryError
        self.lock = threading.RLock()
        self.interrupted = False
        self._made: list[tuple[Any, Callable[[Any], None]]] = []
        self._kept: list[Any] = [ffi.new_handle(logger.log)]
        lib.calm_context_set_log(self.pointer, lib.calm_python_log, self._kept[0])
        ending = weakref.finalize(self, _end, self.pointer, self._made, self._kept)
        ending.atexit = False  # a search that nobody waits for may still run then

    def check(self, status: int) -> None:
        """Raise what a status stands for."""
        if status != lib.CALM_OK:
            raise BY_STATUS[status - 1](text_of(lib.calm_context_message(self.pointer)))

    def make(self, type_name: str, free: Callable[[Any], None],
             call: Callable[[Any], int]) -> Any:
        """What a call yields in its ``out``: freed with the context, the last one first."""
        out = ffi.new(f"{type_name} **")
        with self.lock:
            self.check(call(out))
            self._made.append((out[0], free))
        return out[0]

    def free_last(self) -> None:
        """Free what was made last, sooner than the context."""
        with self.lock:
            pointer, free = self._made.pop()
            free(pointer)

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
        self._kept.append(ffi.from_buffer(content))
        self.check(lib.calm_context_lend(self.pointer, path_bytes(name), self._kept[-1],
                                         len(content)))
        return name

    def words(self, encoded: bytes | None) -> Any:
        """A text for the library, for as long; NULL for None."""
        if encoded is None:
            return ffi.NULL
        self._kept.append(ffi.new("char[]", encoded))
        return self._kept[-1]

    def array(self, files: Sequence[File]) -> Any:
        """The names of files as the C array that the library takes, for as long."""
        self._kept.append(ffi.new("const char *[]", [
            self.words(file.encoded) for file in files]))
        return self._kept[-1]

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
