"""What can go wrong, as exceptions that derive from Python's own.

How a search ended (``"optimal"``, ``"feasible"``, ``"infeasible"``, ``"limit"``) is a
result and no error.
"""


class Error(Exception):
    """Any failure of calm; its text is one line: what, where, what would be right."""


class OutOfMemory(Error, MemoryError):
    """There is no memory."""


class UsageError(Error, ValueError):
    """The call, or the value of an option, is wrong."""


class InputError(Error, ValueError):
    """A model, a graph or a YAML file is malformed."""


class UnsupportedError(Error, NotImplementedError):
    """The input is well-formed, but calm cannot handle it."""


class FileError(Error, OSError):
    """A file cannot be read or written."""


class InternalError(Error, RuntimeError):
    """A fault in calm, or a solver that is missing or failed."""


# By calm_status, CALM_OK left out.
BY_STATUS: tuple[type[Error], ...] = (
    OutOfMemory, UsageError, InputError, UnsupportedError, FileError, InternalError)
