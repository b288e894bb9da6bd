"""Put a page together as the library does, from the files of src/report/page.

    python3 tests/page/assemble.py PLAN.json ... -o page.html

The tests use it for documents that no run of calm would give; it is also how to look
at a change of the page without building anything.  It lays out no drawings.
"""
import argparse
import json
import pathlib

PAGE = pathlib.Path(__file__).resolve().parents[2] / "src" / "report" / "page"
POLICY = ("default-src 'none'; style-src 'unsafe-inline'; "
          "script-src 'unsafe-inline'; img-src data:")


def scripts():
    """In alphabetical order, the one that starts the page last."""
    files = sorted(PAGE.glob("page_*.js"))
    files.sort(key=lambda file: file.name == "page_main.js")
    return "\n".join(file.read_text() for file in files)


def page(documents, title="A page"):
    """documents: (name, data, drawings)."""
    data = {"title": title, "version": "0.1.0", "documents": [
        {"name": name, "data": content, "drawings": drawings}
        for name, content, drawings in documents]}
    text = json.dumps(data).replace("<", "\\u003c")
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>calm</title>
<style>
{(PAGE / "page.css").read_text()}</style></head><body>
<noscript>This page needs JavaScript.</noscript>
<main id="page"></main>
<script type="application/json" id="calm-data">{text}</script>
<script>
{scripts()}</script></body></html>
"""


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("files", nargs="+", type=pathlib.Path)
    options.add_argument("-o", dest="out", type=pathlib.Path, required=True)
    given = options.parse_args()
    documents = [(file.name, json.loads(file.read_text()), [])
                 for file in given.files]
    given.out.write_text(page(documents, ", ".join(f.name for f in given.files)))


if __name__ == "__main__":
    main()
