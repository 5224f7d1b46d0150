"""Pages in a real browser, for the tests that look at them."""

import shutil

import pytest

from flipproof.report.report_files import write_page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync"
HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)">'


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a page, and fails if it complains, asks for anything but itself, or shows an alert."""
    trouble, contexts = [], []

    def opener(*sections, **context):
        path = tmp_path / "page.html"
        write_page(path, sections)
        contexts.append(browser.new_context(**context))
        page = contexts[-1].new_page()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: request.url == path.as_uri() or trouble.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        return page

    yield opener
    for context in contexts:
        context.close()
    assert trouble == []
