# SPDX-License-Identifier: MIT
"""papfft report: pages that are whole and safe, whatever the files hold."""

import base64
import hashlib
import html.parser
import json
import re
import xml.etree.ElementTree

from support import ProgramTest, command_line, complaints, np, run

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&\"'\x1b[31m\u2028"
VOID = {"meta", "img", "br", "link", "input", "hr"}


def summary(median, **more):
    return {"median": median, "mean": median, "stddev": 0.1, "p10": median * 0.9, "p90": median * 1.2,
            "p99": median * 1.3, "min": median * 0.8, "max": median * 1.4, **more}


def collective_row(algorithm, median, size=8 << 20, pattern="none", delay_ms=0, ranks=8, samples=None):
    row = {"op": "gather", "algorithm": algorithm, "ranks": ranks, "bytes": size, "block_bytes": size // ranks,
           "pattern": pattern, "max_delay_ms": delay_ms, "iterations": 30, "run_ms": summary(median),
           "elapsed_ms": summary(median / 3), "first_ms": median, "bound_ms": median / 2, "efficiency": 0.5,
           "correct": True}
    return row if samples is None else {**row, "run_samples_ms": samples}


def collective(rows, **settings):
    ranks = rows[0]["ranks"]
    return {"papfft": "0.1.0",
            "machine": {"host": "h0", "cores": 2, "mpi": "Open MPI", "ranks": ranks, "ranks_on_host": ranks},
            "settings": {"op": "gather", "seed": 7, "compute_ms": 60.0, "bytes": [1], **settings},
            "alpha_us": 12.0, "beta_ns_per_byte": 8.3, "rows": rows}


class PageParser(html.parser.HTMLParser):
    """What is in a page, and whether every element is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.attributes, self.scripts, self.style, self.ids = [], [], [], [], "", []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.attributes.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            raise AssertionError(f"</{tag}> closes something else")

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        elif self.open and self.open[-1] == "style":
            self.style += data
        else:
            self.texts.append(data)


class ReportTest(ProgramTest):
    def write(self, name, document):
        self.path(name).write_text(json.dumps(document))
        return name

    def page(self, *arguments):
        """The page of a report, after the checks that each must pass."""
        self.papfft("report", *arguments, "-o", "report.html")
        text = self.path("report.html").read_text()
        parser = PageParser(text)
        self.assertEqual(parser.open, [])
        self.assertEqual(len(parser.ids), len(set(parser.ids)))
        figures = re.findall(r"<figure id=\"[^\"]*\">\s*<figcaption>(.*?)</figcaption>\s*(<svg.*?)</figure>", text, re.S)
        for _, svg in figures:
            self.assertTrue(xml.etree.ElementTree.fromstring(svg).tag.endswith("svg"))
        digest = base64.b64encode(hashlib.sha256(parser.style.encode()).digest()).decode()
        policy = next(a["content"] for tag, a in parser.attributes
                      if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy")
        self.assertEqual(policy, f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'")
        for tag, attributes in parser.attributes:
            self.assertNotIn(tag, ("img", "iframe", "link", "object", "form", "foreignobject"))
            for name, value in attributes.items():
                self.assertFalse(name.startswith("on") or name == "style", (tag, name))
                if name in ("href", "src", "action"):
                    # Heat maps are pictures within the page.
                    within = "data:image/png;base64," if tag == "image" else "#"
                    self.assertTrue(value.startswith(within), (tag, value))
            if tag == "script":
                self.assertEqual(attributes.get("type"), "application/json")
        return parser, [caption for caption, _ in figures]

    def refused(self, *arguments, code=65, **options):
        result = run(command_line(("report", *arguments)), cwd=self.folder, **options)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        self.assertEqual(len(result.stderr.decode().splitlines()), 1, result.stderr.decode())
        self.assertEqual(len(complaints(result.stderr)), 1)
        return complaints(result.stderr)[0]

    def sweep(self, name, ranks, **settings):
        sizes = (1 << 10, 1 << 16, 1 << 20, 1 << 24)
        rows = [collective_row(algorithm, size / factor, size=size, ranks=ranks)
                for size in sizes for algorithm, factor in (("mpi", 9e5), ("ls", 1e6), ("bsls", 1.2e6))]
        return self.write(name, collective(rows, **settings))

    def test_bars_efficiency_and_gain_of_a_collective(self):
        document = collective([collective_row(a, t, pattern=p, delay_ms=d) for p, d in (("none", 0), ("uniform:50ms", 50))
                               for a, t in (("mpi", 60), ("bsls", 40))])
        parser, captions = self.page(self.write("g.json", document))
        for words in ("Run and elapsed time: gather of 8 MiB on 8 ranks, arrivals none",
                      "Run and elapsed time: gather of 8 MiB on 8 ranks, arrivals uniform:50ms",
                      "Share of the bound: gather of 8 MiB on 8 ranks", "Gain over stock MPI: gather of 8 MiB on 8 ranks"):
            self.assertIn(words, captions)
        self.assertEqual(json.loads(parser.scripts[0]), document)
        text = " ".join(parser.texts)
        for words in ("seed 7", "h0, 2 cores, Open MPI, all ranks on one host", "1.50", "60.0 ms"):
            self.assertIn(words, text)

    def test_lines_over_sizes_and_delays_and_the_map_of_the_best(self):
        _, captions = self.page(self.sweep("4.json", 4), self.sweep("8.json", 8))
        self.assertIn("Best algorithm over size and ranks: gather, arrivals none", captions)
        self.assertIn("Run time over size: gather on 4 ranks, arrivals none", captions)
        self.assertIn("Gain over stock MPI, over size: gather on 8 ranks, arrivals none", captions)
        rows = [collective_row("mpi", 10 + d, pattern=f"uniform:{d}ms" if d else "none", delay_ms=d) for d in (0, 10, 50)]
        _, captions = self.page(self.write("d.json", collective(rows)))
        self.assertIn("Run time over delay: gather of 8 MiB on 8 ranks, arrivals uniform", captions)

    def test_maps_of_guidelines(self):
        def row(operation, size, guideline, peer, ratio, p, verdict, **more):
            return {"op": operation, "guideline": guideline, "peer": peer, "ranks": 4, "bytes": size, "pattern": "none",
                    "auto_ms": summary(ratio), "auto_samples_ms": [ratio] * 9, "peer_ms": summary(1), "ratio": ratio, "p": p,
                    "verdict": verdict, "violated": verdict == "VIOLATED", **more}

        rows = [row("bcast", 1024, "stock", "mpi", 0.9, 0.8, "kept"),
                row("bcast", 1024, "best", "mpi-best", 1.25, 1e-6, "VIOLATED", mpi_algorithm="3/64K"),
                row("gather", 65532, "stock", "mpi", 1.31, 0.2, "unproven")]
        document = {**collective(rows), "settings": {"operations": ["bcast", "gather"], "bytes": [1024, 65536], "seed": 7}}
        parser, captions = self.page(self.write("g.json", document))
        self.assertEqual(captions, ["The worst guideline of each cell: 4 ranks, arrivals none",
                                    "auto against stock MPI&#39;s default: 4 ranks, arrivals none",
                                    "auto against the best algorithm of stock MPI: 4 ranks, arrivals none"])
        text = " ".join(parser.texts)
        for words in ("bcast: auto and mpi-best 3/64K (best)", "1.25", "VIOLATED", "1e-06", "violated", "not checked", "64 KiB",
                      "auto / peer", "verdict", "run time of auto / of its peer"):
            self.assertIn(words, text)
        self.assertEqual(json.loads(parser.scripts[0]), document)
        for name, value in (("ratio", None), ("p", "small"), ("verdict", 3), ("violated", "yes"), ("peer_ms", 1), ("guideline", [])):
            bad = {**document, "rows": [{**rows[0], name: value}]}
            self.assertIn("bad.json: row 1 ", self.refused(self.write("bad.json", bad), "-o", "out.html"))

    def test_maps_of_decisions(self):
        def table(name, ranks, rows):
            self.path(name).write_text(f"papfft-decisions 1\nlibrary Open MPI\nranks {ranks}\nhosts {ranks}\n{rows}")
            return name

        eight = table("8.txt", 8, "bcast 1048576 circulant/24=100 mpi=400\nscatter 8192 mpi=10 sln=20\n")
        four = table("4.txt", 4, "bcast 1048576 mpi=100 chain=150\n")
        parser, captions = self.page(eight)
        self.assertEqual(captions, ["What auto does: 8 ranks on 8 hosts, with Open MPI"])
        text = " ".join(parser.texts)
        for words in ("Of 2 measured cells", "2.00 times as fast", "4.00x: bcast of 1 MiB by circulant/24", "64 KiB", "next best"):
            self.assertIn(words, text)
        self.assertEqual(self.page(eight, four)[1], ["What auto does: scatter", "What auto does: bcast"])
        shown = self.papfft("tune", "--show", f"{eight},{four}").stdout.decode()
        self.assertIn("Of 3 measured cells", shown)
        self.assertIn("circulant/24", shown)
        self.assertIn("is a table of decisions", self.refused("--compare", eight, four, code=64))
        self.assertIn("line 5", self.refused(table("bad.txt", 8, "bcast 5 nonsense=1\n"), "-o", "out.html"))

    def test_titles_say_how_ranks_are_spread_over_hosts(self):
        def page_of(**machine):
            document = collective([collective_row(a, t) for a, t in (("mpi", 60), ("bsls", 40))])
            document["machine"].update({"ranks_on_host": 4, **machine})
            parser, captions = self.page(self.write("h.json", document))
            return captions, " ".join(parser.texts)

        title = "Run and elapsed time: gather of 8 MiB on 8 ranks, "
        captions, text = page_of(hosts=2, ranks_per_host="4", rank_order="by host")
        self.assertIn(title + "4 per host, arrivals none", captions)
        self.assertIn("ranks per host: 4;", text)
        captions, text = page_of(hosts=3, ranks_per_host="4,3,1", rank_order="round robin")
        self.assertIn(title + "4,3,1 per host, round robin, arrivals none", captions)
        self.assertIn("ranks per host: 4,3,1, round robin;", text)
        captions, _ = page_of(ranks_on_host=1)  # as former versions wrote it
        self.assertIn(title + "one per host, arrivals none", captions)

    def test_runs_of_other_settings_get_figures_of_their_own_and_the_title_says_so(self):
        _, captions = self.page(self.sweep("a.json", 4), self.sweep("b.json", 8, seed=8))
        self.assertFalse([c for c in captions if c.startswith("Best algorithm")])
        self.assertIn("Run time over size: gather on 4 ranks, arrivals none [seed 7; a.json]", captions)
        self.assertIn("Run time over size: gather on 8 ranks, arrivals none [seed 8; b.json]", captions)
        # The same situation twice: nothing tells which to show.
        _, captions = self.page(self.sweep("a.json", 4), self.sweep("b.json", 4))
        self.assertEqual([c for c in captions if c.startswith("Run time over size")],
                         [f"Run time over size: gather on 4 ranks, arrivals none [{f}]" for f in ("a.json", "b.json")])

    def test_what_the_program_itself_measures(self):
        self.papfft("bench", "collective", "--algorithms", "lin,bsls", "--bytes", "4K,64K", "--iterations", 3, "--warmup", 1,
                    "--compute", "1ms", "--json", "c.json", ranks=3)
        self.papfft("bench", "fft", "--vectors", 4, "--length", 3072, "--gathers", "mpi,ls", "--json", "f.json", ranks=3)
        self.papfft("bench", "predictor", "--blocks", 1, "--compute", "1ms", "--delay", "uniform:1ms", "--json", "p.json",
                    ranks=2)
        self.papfft("bench", "schedule", "--ranks", "4,8,16", "--repetitions", 3, "--json", "s.json")
        self.papfft("bench", "schedule", "--op", "bcast", "--ranks", "8,64", "--repetitions", 2, "--json", "k.json")
        self.papfft("simulate", "--algorithms", "bnom,chain", "--ranks", "4,8", "--bytes", "1K,1M", "--segments", "1,8",
                    "--json", "v.json")
        _, captions = self.page("c.json", "f.json", "p.json", "s.json", "k.json", "v.json", "--figures", "pictures")
        for words in ("Run time over size: gather on 3 ranks", "Time per transform: vectors of 24 KiB on 3 ranks",
                      "What predicting costs the computation: 2 ranks", "Planning time over ranks: reduce, arrivals uniform",
                      "Planning time over ranks: bcast", "Best algorithm over size and ranks: reduce, arrivals none"):
            self.assertTrue([c for c in captions if c.startswith(words)], (words, captions))
        pictures = [p for p in self.files() if p.startswith("pictures/")]
        self.assertEqual(len(pictures), 2 * len(captions))
        for picture in pictures:
            start = self.path(picture).read_bytes()[:8]
            self.assertEqual(start, b"\x89PNG\r\n\x1a\n" if picture.endswith(".png") else b"<svg xml")

    def test_hostile_texts_stay_texts(self):
        document = collective([collective_row(HOSTILE, 60, pattern=HOSTILE), collective_row("mpi", 50, pattern=HOSTILE)],
                              **{HOSTILE: HOSTILE})
        document["machine"]["host"] = HOSTILE
        parser, captions = self.page(self.write("h.json", document), "--title", HOSTILE)
        self.assertEqual(json.loads(parser.scripts[0]), document)
        self.assertTrue(captions)
        self.assertIn("<img src=x onerror=alert(2)>", " ".join(parser.texts))  # shown, not obeyed
        said = self.papfft("report", "--compare", "h.json", self.write("i.json", document)).stdout
        self.assertNotIn(b"\x1b", said)

    def test_a_comparison_says_how_sure_it_is(self):
        near = [60 + i % 7 for i in range(30)]
        a = self.write("a.json", collective([collective_row("ls", 63, samples=near), collective_row("sls", 63, samples=near),
                                             collective_row("bsls", 63), collective_row("lin", 1)]))
        b = self.write("b.json", collective([collective_row("ls", 31.5, samples=[x / 2 for x in near]),
                                             collective_row("sls", 63, samples=near[::-1]), collective_row("bsls", 60)],
                                            seed=8))
        self.assertIn("other settings (seed: 7 and 8); what would work: --despite-settings",
                      self.refused("--compare", a, b, code=64))
        lines = self.papfft("report", "--compare", a, b, "--despite-settings").stdout.decode().splitlines()
        of = {line.split()[0]: line for line in lines if line.split()[:1]}
        self.assertRegex(of["ls"], r"0\.500 +0\.4\d+ \.\. 0\.5\d+ +B is faster")
        self.assertIn("no difference shown", of["sls"])
        self.assertIn("raw data are needed", of["bsls"])
        self.assertNotIn("lin", of)
        self.assertIn("measured with other settings: seed: 7 and 8", lines)
        parser, _ = self.page("--compare", a, b, "--quiet", "--despite-settings")
        self.assertIn("B is faster (95 % confidence)", parser.texts)

    def test_a_link_that_changed_its_speed_is_told(self):
        row = collective_row("ls", 63)
        steady = self.write("steady.json", {**collective([row]), "beta_after_ns_per_byte": 8.5})
        slower = self.write("slower.json", {**collective([row]), "beta_after_ns_per_byte": 16.1})
        said = "the link took 8.3 ns per byte before the run and 16.1 after it"
        self.assertIn("measured with the same settings; but slower.json: " + said,
                      self.papfft("report", "--compare", steady, slower).stdout.decode())
        also = self.write("also.json", json.loads(self.path(steady).read_text()))
        self.assertNotIn("but", self.papfft("report", "--compare", steady, also).stdout.decode())
        parser, _ = self.page(slower)
        self.assertIn("NOT STEADY: " + said, " ".join(parser.texts))
        parser, _ = self.page(steady)
        self.assertNotIn("NOT STEADY", " ".join(parser.texts))

    def test_calls_one_by_one(self):
        calls = {"arrival_us": [[0, 20e3, 5e3], [10e3, 0, 40e3]], "exit_us": [[30e3, 31e3, 32e3], [50e3, 51e3, 52e3]],
                 "predicted_us": [[1e3, 19e3, None], [10e3, 1e3, 39e3]]}
        rows = [{**collective_row(a, 40, ranks=3, pattern="uniform:40ms"), "calls": calls} for a in ("ls", "bsls")]
        del rows[1]["calls"]
        rows[0]["calls"] = calls
        _, captions = self.page(self.write("calls.json", collective(rows)))
        of = "gather of 8 MiB on 3 ranks, arrivals uniform:40ms, by ls"
        for words in ("Arrivals after the first one: ", "Predicted - actual arrival: ", "The call of median run time: "):
            self.assertEqual([c for c in captions if c.startswith(words)], [words + of])
        text = self.path("report.html").read_text()
        for words in ("in the call (elapsed)", "predicted arrival", "Heat map of 3 × 2 values"):
            self.assertIn(words, text)
        for name, value in (("arrival_us", [[0, 1]]), ("exit_us", [[1, 2, 3]]), ("predicted_us", [["a", 1, 2], [1, 2, 3]]),
                            ("exit_us", 3), ("arrival_us", [[None, 0, 0], [0, 0, 0]])):
            rows[0]["calls"] = {**calls, name: value}
            self.assertIn("bad.json: row 1 ", self.refused(self.write("bad.json", collective(rows)), "-o", "out.html"))

    def test_run_time_over_ranks_and_how_uneven_the_arrivals_were(self):
        rows = [{**collective_row("mpi", n, ranks=n), "after_last_ms": summary(n / 2), "imbalance_samples": [1, 2, 4]} for n in (2, 4, 8)]
        _, captions = self.page(self.write("n.json", collective(rows)))
        self.assertIn("Run time over ranks: gather of 8 MiB, arrivals none", captions)
        self.assertIn("Distribution of the imbalance factor: gather of 8 MiB on 4 ranks", captions)
        text = self.path("report.html").read_text()
        for words in ("last arrival to last exit", "run time: first arrival to last exit", "elapsed: mean over ranks"):
            self.assertIn(words, text)
        rows[0]["imbalance_samples"] = ["a"]
        self.assertIn("imbalance_samples", self.refused(self.write("bad.json", collective(rows)), "-o", "out.html"))

    def test_messages_of_a_simulated_call(self):
        self.papfft("simulate", "--algorithms", "papbi,bnom", "--ranks", 5, "--bytes", "64K", "--segments", 4, "--arrivals",
                    "uniform:1ms", "--messages", "--json", "m.json")
        _, captions = self.page("m.json")
        of = "Messages of one call: reduce of 64 KiB on 5 ranks, arrivals uniform:1ms, by "
        self.assertEqual([c[len(of):] for c in captions if c.startswith(of)], ["papbi in 4 segments", "bnom in 4 segments"])
        self.assertIn("on the critical path", self.path("report.html").read_text())
        document = json.loads(self.path("m.json").read_text())
        for name, value in (("from", [9]), ("to", ["a"]), ("end_ns", [1, 2]), ("exit_ns", [1]), ("critical", None)):
            document["rows"][0]["messages"][name], kept = value, document["rows"][0]["messages"][name]
            self.assertIn(name if name == "critical" else "'messages'",
                          self.refused(self.write("bad.json", document), "-o", "out.html"))
            document["rows"][0]["messages"][name] = kept

    def test_messages_name_a_host_for_each_rank(self):
        self.papfft("simulate", "--op", "bcast", "--algorithms", "chain@hosts", "--hosts", "2x2", "--bytes", "64K", "--messages",
                    "--json", "m.json")
        document = json.loads(self.path("m.json").read_text())
        for hosts in ([0, 0, 1], [0, 0, 1, -1], "0011"):
            document["rows"][0]["messages"]["host"] = hosts
            self.assertIn("'messages'", self.refused(self.write("bad.json", document), "-o", "out.html"))

    def test_a_jobs_timeline_and_recording(self):
        self.save("z.npy", np.random.default_rng(7).standard_normal((20, 510)) + 0j)
        self.papfft("transform", "z.npy", "-o", "out.npy", "--engine", "dif", "--gather", "bsls", "--delay", "late:1:20ms",
                    "--timeline", "t.json", "--record", "r.json", ranks=3)
        parser, captions = self.page("t.json", "r.json", "--figures", "pictures")
        for words in ("Timeline: transform on 3 ranks", "Timeline of the first calls: transform on 3 ranks",
                      "What each rank did in all: transform on 3 ranks", "Run and elapsed time of recorded calls on 3 ranks",
                      "How far apart the ranks come: distribution, 3 ranks"):
            self.assertIn(words, captions)
        self.assertTrue([c for c in captions if c.startswith("The call of median run time: 7.97 KiB on 3 ranks, by gather sls")]
                        or [c for c in captions if c.startswith("The call of median run time: ")], captions)
        self.assertEqual(len([p for p in self.files() if p.startswith("pictures/")]), 2 * len(captions))
        self.assertEqual({json.dumps(json.loads(s)) for s in parser.scripts},
                         {json.dumps(json.loads(self.path(f).read_text())) for f in ("t.json", "r.json")})
        text = self.path("report.html").read_text()
        for words in ("The first 8 of 40 calls", "computes", "Late Sender", "message", "edge", "in the background, before its caller"):
            self.assertIn(words, text)
        self.assertIn("t.json is a timeline; what would work", self.refused("--compare", "t.json", "r.json", code=64))
        whole = self.path("t.json").read_text()
        for content, said in ((whole[:-100], "is no JSON"), (whole.replace('"papfft"', '"other"', 1), "another program"),
                              (whole.replace('"dur":', '"dur":-', 1), "event"), (whole.replace('"ph":"X"', '"ph":"B"', 1), "kind 'B'")):
            self.path("bad.json").write_text(content)
            self.assertIn(said, self.refused("bad.json", "-o", "out.html"))

    def test_hostile_names_in_a_timeline_stay_texts(self):
        def slice_of(**more):
            return {"pid": 0, "tid": 0, "ph": "X", "name": HOSTILE, "cat": "phase", "ts": 0, "dur": 5, **more}

        events = [slice_of(), slice_of(tid=1000, cat="call", ts=6),
                  {"pid": 0, "tid": 0, "ph": "M", "name": "process_name", "args": {"name": HOSTILE}}]
        document = {"otherData": {"papfft": "1", "command": "papfft " + HOSTILE, "machine": {HOSTILE: HOSTILE}}, "traceEvents": events}
        parser, captions = self.page(self.write("h.json", document))
        self.assertEqual(json.loads(parser.scripts[0]), document)
        self.assertIn("onerror=alert(2)", " ".join(parser.texts))

    def test_the_page_can_be_read_in_light_and_in_the_dark(self):
        """By the contrast ratio of WCAG 2.2: 4.5 for text."""
        def luminance(color):
            digits = "".join(2 * c for c in color) if len(color) == 3 else color
            parts = [int(digits[i:i + 2], 16) / 255 for i in (0, 2, 4)]
            return sum(w * (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4)
                       for w, v in zip((0.2126, 0.7152, 0.0722), parts))

        def contrast(a, b):
            darker, lighter = sorted((luminance(a), luminance(b)))
            return (lighter + 0.05) / (darker + 0.05)

        parser, _ = self.page(self.write("g.json", collective([collective_row("mpi", 60)])))
        light, dark = parser.style.split("prefers-color-scheme:dark", 1)
        for scheme in (light, dark):
            text, page = re.search(r"body\{[^}]*?color:#(\w+);background:#(\w+)", scheme).groups()
            caption = re.search(r"figcaption\{[^}]*?background:#(\w+)", scheme).group(1)
            link = re.search(r"\ba\{color:#(\w+)", scheme).group(1)
            for ink, paper in ((text, page), (text, caption), (link, page)):
                self.assertGreaterEqual(contrast(ink, paper), 4.5, (ink, paper))
        # Figures keep a width at which they can be read, and are moved sideways where there is less; on paper nothing is
        # folded away.
        self.assertIn("min-width", re.search(r"figure>svg\{([^}]*)", parser.style).group(1))
        self.assertIn("overflow-x:auto", re.search(r"figure\{([^}]*)", parser.style).group(1))
        self.assertIn("details::details-content{content-visibility:visible", parser.style.split("@media print", 1)[1])

    def test_files_that_cannot_be_used(self):
        good = collective([collective_row("mpi", 60)])
        cases = {"empty.json": b"", "text.json": b"hello", "cut.json": json.dumps(good).encode()[:-20], "list.json": b"[1, 2]",
                 "none.json": b'{"rows": []}', "other.json": b'{"rows": [{"a": 1}]}', "scalar.json": b'{"rows": [3]}',
                 "deep.json": b"[" * 100000, "binary.json": bytes(range(256)), "latin.json": b'{"rows": [{"run_ms": "\xff"}]}',
                 "big.json": json.dumps(good).replace("60", "1e999").encode()}
        for name, value in (("bytes", -1), ("bytes", 1.5), ("bytes", 1e300), ("ranks", "8"), ("algorithm", 7), ("run_ms", 3),
                            ("run_ms", {}), ("pattern", None), ("op", []), ("correct", "yes"), ("run_samples_ms", ["a"])):
            bad = collective([{**collective_row("mpi", 60), name: value}])
            cases[f"{name}-{len(cases)}.json"] = json.dumps(bad).encode()
        mixed = collective([collective_row("mpi", 60), {**collective_row("mpi", 60), "op": "scatter"}])
        cases["mixed.json"] = json.dumps(mixed).encode()
        for name, data in cases.items():
            with self.subTest(name):
                self.path(name).write_bytes(data)
                self.assertIn(name, self.refused(name, "-o", "out.html"))
        self.assertIn("gone.json: No such file", self.refused("gone.json", "-o", "out.html"))
        self.assertIn("Is a directory", self.refused(".", "-o", "out.html"))
        self.assertFalse(self.path("out.html").exists())

    def test_mistakes(self):
        good = self.write("g.json", collective([collective_row("mpi", 60)]))
        other = self.write("s.json", collective([{**collective_row("mpi", 60), "op": "scatter"}]))
        self.assertIn("-o report.html", self.refused(good, code=64))
        self.assertIn("exactly two", self.refused("--compare", good, code=64))
        self.assertIn("two of one kind", self.refused("--compare", good, other, code=64))
        self.path("link.json").symlink_to(good)
        for same in (good, "./" + good, "link.json"):
            self.assertIn("are the same file", self.refused("--compare", good, same, code=64))
        self.assertIn("gone.json: No such file", self.refused("--compare", good, "gone.json"))
        self.path("cut.json").write_text(self.path(good).read_text()[:-30])
        self.assertIn("cut.json: is no JSON (at byte ", self.refused("--compare", good, "cut.json"))
        self.path("another.json").write_text('{"name": "papfft", "version": 3}')
        self.assertIn("another.json: has no rows", self.refused("--compare", "another.json", good))
        far = self.write("far.json", collective([collective_row("ls", 60)]))
        self.assertIn("no situation in common", self.refused("--compare", good, far, code=64))
        self.assertIn("no-folder", self.refused(good, "-o", "no-folder/out.html", code=73))
