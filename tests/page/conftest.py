"""A browser for all tests, and pages that tell what went wrong in them."""
import os
import pathlib
import shutil
import subprocess

import pytest

from assemble import page as assembled

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALM = os.environ.get("CALM", str(ROOT / "build/release/calm"))
CASES = pathlib.Path(os.environ.get("CALM_CASES", ROOT / "../shared/cases"))
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    if not CHROMIUM:
        pytest.skip("there is no chromium")
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Watch:
    """A page, and all that a good page does not do."""

    def __init__(self, page, path):
        self.page = page
        self.path = path
        self.wrong = []
        page.on("console", lambda message: self.wrong.append(message.text))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("dialog", lambda dialog: (self.wrong.append("dialog"), dialog.dismiss()))
        page.on("request", self.asked)

    def asked(self, request):
        if not request.url.startswith((self.path.as_uri(), "blob:", "data:")):
            self.wrong.append(f"asks for {request.url}")

    def open(self):
        self.page.goto(self.path.as_uri())
        self.page.wait_for_selector(".foot")
        return self.page


@pytest.fixture
def show(browser, tmp_path):
    """Open a page of documents, or of files as calm writes them; nothing may go wrong
    in it until the test is over.  A page that is not `whole` may say of parts that they
    cannot be shown."""
    opened = []

    def open_page(*documents, file=None, width=1280, whole=True, **context):
        path = file or tmp_path / f"page{len(opened)}.html"
        if not file:
            path.write_text(assembled([one if isinstance(one, tuple)
                                       else (f"{at}.json", one, [])
                                       for at, one in enumerate(documents)]))
        context = browser.new_context(viewport={"width": width, "height": 900}, **context)
        watch = Watch(context.new_page(), path)
        opened.append((context, watch, whole))
        return watch.open()

    yield open_page
    for context, watch, whole in opened:
        faults = watch.page.locator(".fault").all_inner_texts() if whole else []
        context.close()
        assert watch.wrong == [] and faults == []


@pytest.fixture(scope="session")
def calm():
    """Run the tool; its output."""
    if not os.path.exists(CALM):
        pytest.skip(f"there is no {CALM}")

    def run(*words):
        done = subprocess.run([CALM, *map(str, words)], capture_output=True, text=True,
                              check=False, timeout=120, cwd=ROOT)
        assert done.returncode == 0, done.stderr
        return done.stdout
    return run


@pytest.fixture(scope="session")
def cases():
    if not CASES.is_dir():
        pytest.skip("the public cases are not there")
    return CASES
