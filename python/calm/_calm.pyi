# The extension module that cffi makes of calm.h.
from typing import Any

ffi: Any
lib: Any
