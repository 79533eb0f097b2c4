# SPDX-License-Identifier: MIT
"""What a browser makes of papfft's pages when every name in them means harm: it shows the names, and runs nothing.

Needs Chromium: `chromium` in PATH, or its path in PAPFFT_CHROMIUM. Without it, exit code 77.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from report_test import PageParser, collective, collective_row
from support import ProgramTest

CHROMIUM = os.environ.get("PAPFFT_CHROMIUM") or shutil.which("chromium")
if CHROMIUM is None:
    print("skipped: no chromium", file=sys.stderr)
    sys.exit(77)

OWN = "document.title='OWNED'"
# No slash, so that a file can have this name.
NAME = f"<img src=x onerror=\"{OWN}\"><svg onload=\"{OWN}\"><iframe srcdoc=\"x\">&quot;'\">"
TEXT = f"</script></style></title><script>{OWN}</script>{NAME}<a href=\"javascript:{OWN}\">x</a><base href=x><meta http-equiv=refresh content=0>"
ELEMENTS = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "nav", "ul", "li", "a", "p", "figure", "figcaption", "div", "table",
            "thead", "tbody", "tr", "th", "td", "details", "summary", "script", "svg", "g", "path", "rect", "line", "polyline", "polygon",
            "circle", "text", "tspan", "image", "defs", "clippath", "lineargradient", "stop", "desc"}


class BrowserTest(ProgramTest):
    def shown(self, page):
        """What the browser has made of a page after its events, and what it complains of."""
        with tempfile.TemporaryDirectory() as home:
            result = subprocess.run(
                [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions", "--no-first-run",
                 "--disable-background-networking", f"--user-data-dir={home}", "--enable-logging=stderr", "--virtual-time-budget=2000",
                 "--dump-dom", pathlib.Path(page).absolute().as_uri()],
                env={**os.environ, "HOME": home}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=True)
        return result.stdout.decode(), result.stderr.decode()

    def hostile_page(self):
        rows = [collective_row(TEXT, 60, pattern=TEXT), collective_row("mpi", 50, pattern=TEXT)]
        document = collective(rows, **{TEXT: TEXT})
        document["machine"].update(host=TEXT, mpi=TEXT)
        names = [NAME + ".json", NAME + "2.json"]
        for name in names:
            self.written(name, json.dumps(document))
        self.papfft("report", *names, "--title", TEXT, "-o", "page.html")
        return self.path("page.html")

    def written(self, name, text):
        self.path(name).write_text(text)
        return self.path(name)

    def test_names_are_shown_and_not_obeyed(self):
        shown, complaints = self.shown(self.hostile_page())
        self.assertNotIn("Content Security Policy", complaints)  # there is nothing to forbid, and the page's own style is allowed
        self.assertNotRegex(shown, "<title>OWNED")
        parser = PageParser(shown)
        self.assertGreater(len(parser.attributes), 100)
        for element, attributes in parser.attributes:
            self.assertIn(element, ELEMENTS)
            self.assertFalse([name for name in attributes if name.startswith("on")], (element, attributes))
            if element == "script":
                self.assertEqual(attributes["type"], "application/json")
            for name in ("href", "src"):
                self.assertRegex(attributes.get(name) or "#", r"\A(#|\./|data:image/png)", (element, attributes))
        self.assertIn("srcdoc", " ".join(parser.texts))

    def test_what_got_in_all_the_same_would_not_run(self):
        page = self.hostile_page().read_text()
        injected = page.replace("<body>", f"<body><script>{OWN}</script>{NAME}", 1)
        self.assertNotEqual(page, injected)
        shown, complaints = self.shown(self.written("injected.html", injected))
        self.assertNotRegex(shown, "<title>OWNED")
        self.assertIn("Content Security Policy", complaints)
        # Without the policy it does, so this browser would have shown it.
        free, count = re.subn(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>", "", injected)
        self.assertEqual(count, 1)
        self.assertRegex(self.shown(self.written("free.html", free))[0], "<title>OWNED")


if __name__ == "__main__":
    unittest.main()
