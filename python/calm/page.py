"""Pages to look at (docs/report.md): one file of HTML each."""
from __future__ import annotations

import html
import os
from collections.abc import Sequence

from calm._calm import ffi, lib
from calm._library import Context, path_bytes


class Page:
    """A page that needs nothing else and asks nothing of the network."""

    def __init__(self, text: str) -> None:
        #: The whole file.
        self.html = text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it; the old file is there until the new one is complete."""
        context = Context()
        context.check(lib.calm_text_write(context.pointer, path_bytes(path),
                                          self.html.encode()))

    def __repr__(self) -> str:
        return f"<calm.Page of {len(self.html):,} characters>"

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.html, quote=True)}" '
                'style="width:100%;height:640px;border:0" sandbox="allow-scripts '
                'allow-downloads"></iframe>')


def page(documents: Sequence[tuple[str, str]], title: str | None) -> Page:
    """The page of documents, each a name and its JSON."""
    context = Context()
    array = ffi.new("calm_document[]", max(1, len(documents)))
    for at, (name, words) in enumerate(documents):
        array[at].name = context.words(path_bytes(name))
        array[at].json = context.words(words.encode())
    above = context.words(None if title is None else title.encode())
    return Page(context.text(lambda out: lib.calm_report(
        out, context.pointer, array, len(documents), above)))
