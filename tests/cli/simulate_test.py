# SPDX-License-Identifier: MIT
"""papfft simulate: against the closed forms of the papers, and what it writes."""

import csv
import json
import math
import pathlib
import shutil
import unittest

from support import PROGRAM, REPOSITORY, ProgramTest, complaints, command_line, run

HAS_SIMGRID = (pathlib.Path(PROGRAM).parent / "papfft-simgrid.so").exists()


class SimulateTest(ProgramTest):
    def rows(self, *arguments):
        """The rows of a simulation, as it writes them."""
        self.papfft("simulate", "-q", "--json", "out.json", *arguments)
        return json.loads(self.path("out.json").read_text())["rows"]

    def run_ns(self, *arguments):
        return {row["algorithm"]: row["run_ns"]["mean"] for row in self.rows(*arguments)}

    def test_reductions_take_the_time_of_table_iii(self):
        # alpha 50000, beta 6, gamma 1 as in GRD Fig. 6; m = 64 Ki bytes; 16 segments of 4096
        p, q, m, s = 64, 16, 65536, 4096
        alpha, beta, gamma = 50000, 6, 1
        tau = alpha + (beta + gamma) * s
        times = self.run_ns("--algorithms", "bi-greedy,chain,papbi", "--ranks", p, "--bytes", m, "--segments", q, "--alpha",
                            "50us", "--beta", beta, "--gamma", gamma, "--combining", "in-message", "--window", 1)
        self.assertEqual(times["bi-greedy"], (math.ceil(math.log2(p)) + q - 1) * tau)
        self.assertEqual(times["papbi"], times["bi-greedy"])
        self.assertEqual(times["chain"], (p + q - 2) * tau)
        times = self.run_ns("--algorithms", "binary", "--ranks", 63, "--bytes", m, "--segments", q, "--alpha", "50us", "--beta",
                            beta, "--gamma", gamma, "--combining", "in-message", "--window", 1)
        self.assertEqual(times["binary"], 2 * (6 + q - 2) * tau)
        times = self.run_ns("--algorithms", "bnom,rab", "--ranks", p, "--bytes", m, "--segments", 1, "--alpha", "50us", "--beta",
                            beta, "--gamma", gamma, "--combining", "in-message", "--window", 1)
        self.assertEqual(times["bnom"], 6 * (alpha + (beta + gamma) * m))
        self.assertEqual(times["rab"], 2 * 6 * alpha + (p - 1) * m // p * (2 * beta + gamma))

    def test_one_way_ports_take_the_time_of_table_i(self):
        machine = ("--ports", "uni", "--combining", "in-message", "--window", 1, "--alpha", "10ns", "--beta", 1, "--gamma", 1)
        times = self.run_ns("--algorithms", "chain", "--ranks", 9, "--bytes", 60, "--segments", 5, *machine)
        self.assertEqual(times["chain"], (9 - 1 + 2 * (5 - 1)) * (10 + 2 * 12))
        times = self.run_ns("--algorithms", "bnom,uni-greedy", "--ranks", 9, "--bytes", 60, "--segments", 1, *machine)
        self.assertEqual(times, {"bnom": 4 * (10 + 2 * 60), "uni-greedy": 4 * (10 + 2 * 60)})

    def test_the_best_way_to_cut_is_that_of_table_iv(self):
        def times(ranks, alpha, gamma, size=10):
            names = "table-uni-greedy,table-uni-greedy-uneven"
            return list(self.run_ns("--algorithms", names, "--ranks", ranks, "--bytes", size, "--ports", "uni", "--combining",
                                    "exclusive", "--alpha", f"{alpha}ns", "--beta", 1, "--gamma", gamma).values())

        self.assertEqual(times(6, 1, 1), [51, 49])
        self.assertEqual(times(8, 0, 1), [37, 35])
        self.assertEqual(times(12, 0, 1), [44, 41])
        self.assertEqual(times(16, 1, 0), [40, 38])
        self.assertEqual(times(4, 5, 1, size=1), [14, 14])  # one byte cannot be cut: two rounds of 7
        for change, said in ((("--ports", "bi"), "for --ports uni"), (("--combining", "overlapped"), "--combining exclusive"),
                             (("--bytes", "17"), "--bytes up to 16")):
            arguments = {"--ports": "uni", "--combining": "exclusive", "--bytes": "10", change[0]: change[1]}
            result = run(command_line(("simulate", "--algorithms", "table-uni-greedy-uneven",
                                       *(word for pair in arguments.items() for word in pair))), cwd=self.folder)
            self.assertEqual(result.returncode, 64)
            self.assertIn(said, complaints(result.stderr)[0])

    def test_scatter_and_gather_take_the_time_of_equations_3_and_7(self):
        p, block = 8, 1000
        for op in ("scatter", "gather"):
            times = self.run_ns("--op", op, "--algorithms", "lin,bnom", "--ranks", p, "--bytes", p * block, "--alpha", "5us",
                                "--beta", 2, "--segments", 1, "--window", 1)
            self.assertEqual(times["lin"], (p - 1) * (5000 + 2 * block))
            self.assertEqual(times["bnom"], 3 * 5000 + (p - 1) * 2 * block)

    def test_the_messages_of_a_call_and_its_critical_path(self):
        # A pipeline of 2 segments through 0, 1, 2 to the root: bytes take 1 ns, 10 per segment; rank 1 comes 5 ns late.
        row, = self.rows("--op", "bcast", "--algorithms", "chain", "--ranks", 3, "--bytes", 20, "--segments", 2, "--alpha", 0,
                         "--beta", 1, "--arrivals", "late:1:5ns", "--messages")
        m = row["messages"]
        of = {key: list(zip(m["from"], m["to"], m[key])) for key in ("bytes", "begin_ns", "end_ns", "critical")}
        self.assertEqual(sorted(of["bytes"]), [(0, 1, 10), (0, 1, 10), (1, 2, 10), (1, 2, 10)])
        self.assertEqual(sorted(of["begin_ns"]), [(0, 1, 5), (0, 1, 15), (1, 2, 15), (1, 2, 25)])
        self.assertEqual(sorted(of["end_ns"]), [(0, 1, 15), (0, 1, 25), (1, 2, 25), (1, 2, 35)])
        self.assertEqual((m["arrival_ns"], m["exit_ns"]), ([0, 5, 0], [25, 35, 35]))
        self.assertEqual(sum(m["critical"]), 3)
        self.assertIn((1, 2, 1), of["critical"])
        self.assertEqual(row["run_ns"]["mean"], 35)
        self.assertEqual(row["after_last_ns"]["mean"], 30)
        for arguments, said in ((("--messages",), "--json"), (("--messages", "--json", "x.json", "--algorithms", "chain", "--ranks",
                                                                1000, "--segments", 64), "--messages: more than 20000")):
            result = run(command_line(("simulate", *arguments)), cwd=self.folder)
            self.assertEqual(result.returncode, 64)
            self.assertIn(said, result.stderr.decode())

    def test_ranks_of_a_host_share_its_card(self):
        # 2 hosts of 2 ranks, 100 bytes per block: 10 + 400 ns between hosts, 2 + 100 inside one.
        links = ("--alpha", "10ns", "--beta", 4, "--gamma", 0, "--inside-alpha", "2ns", "--inside-beta", 1, "--window", 1)
        rows = self.rows("--op", "bcast", "--algorithms", "bound,bnom,bnom@hosts", "--hosts", "2x2", "--bytes", 100, "--segments",
                         1, *links)
        self.assertEqual({row["algorithm"]: row["run_ns"]["mean"] for row in rows}, {"bound": 410, "bnom": 512, "bnom@hosts": 512})
        self.assertEqual([row["bound_ns"] for row in rows], [410] * 3)
        self.assertEqual([row["over_best"] for row in rows], [410 / 512, 1, 1])
        # Two lanes of 100 bytes each: the root hands its neighbour one in 102, both cross, and both hosts exchange them in 102.
        arguments = ("--op", "bcast", "--algorithms", "bound,bnom@hosts,bnom@lanes", "--hosts", "2x2", "--bytes", 200, "--segments", 1)
        self.assertEqual(self.run_ns(*arguments, *links), {"bound": 810, "bnom@hosts": 1012, "bnom@lanes": 102 + 2 * 410 + 102})
        self.assertEqual(self.run_ns(*arguments, *links, "--card-ports", 2),
                         {"bound": 400, "bnom@hosts": 1012, "bnom@lanes": 102 + 410 + 102})
        self.assertEqual(json.loads(self.path("out.json").read_text())["settings"]["card_ports"], 2)
        for mistake, said in ((("--hosts", "2x2", "--card-ports", 0), "not in range"), (("--card-ports", 2), "requires --hosts")):
            result = run(command_line(("simulate", "--quiet", *mistake)), cwd=self.folder)
            self.assertEqual(result.returncode, 64)
            self.assertIn(said, complaints(result.stderr)[0])
        # Dealt out in turn, the tree sends twice between hosts: 0 -> 2 inside, then 0 -> 1 and 2 -> 3, which share the cards.
        times = self.run_ns("--op", "bcast", "--algorithms", "bnom", "--hosts", "0,1,0,1", "--bytes", 100, "--segments", 1, *links)
        self.assertEqual(times, {"bnom": 102 + 2 * 410})
        document = json.loads(self.path("out.json").read_text())
        self.assertEqual(document["settings"]["hosts"], "0,1,0,1")
        self.assertEqual(document["settings"]["inside_alpha"], "0.002us")
        self.assertEqual(document["settings"]["inside_beta_ns_per_byte"], 1)

    def test_layouts_of_hosts(self):
        common = ("--op", "allgather", "--algorithms", "ring", "--bytes", 6000, "--segments", 1)
        self.assertEqual(self.rows(*common, "--hosts", "3x2"), self.rows(*common, "--hosts", "0,0,1,1,2,2"))
        self.assertEqual(self.rows(*common, "--hosts", "3x2:cyclic"), self.rows(*common, "--hosts", "4,5,6,4,5,6"))
        alone, = self.rows(*common, "--hosts", "6x1")
        del alone["bound_ns"]
        self.assertEqual([alone], self.rows(*common, "--ranks", 6))
        said = self.papfft("simulate", *common, "--hosts", "3x2", "--csv", "out.csv").stdout.decode()
        self.assertIn("over bound", said)
        with open(self.path("out.csv"), newline="") as file:
            row, = csv.DictReader(file)
        self.assertEqual(float(row["bound_ns"]), 4 * 1000 * 8)  # four of six blocks come over the link
        for hosts in ("3x", "x2", "0x2", "3x2:block", "0,,1", "a", "0,1,", "1048577x1"):
            result = run(command_line(("simulate", "--quiet", "--hosts", hosts)), cwd=self.folder)
            self.assertEqual(result.returncode, 64)
            self.assertIn("what would work: 0,0,1,1, or 8x4", complaints(result.stderr)[0])
        result = run(command_line(("simulate", "--quiet", "--hosts", "3x2", "--ranks", 6)), cwd=self.folder)
        self.assertEqual(result.returncode, 64)
        self.assertIn("excludes", complaints(result.stderr)[0])

    def test_a_schedule_is_drawn_with_its_hosts(self):
        arguments = ("schedule", "--op", "bcast", "--algorithm", "circulant@hosts", "--ranks", 6, "--hosts", "3x2", "--segments", 4)
        self.assertEqual(self.papfft(*arguments, "-o", "s.svg").stdout, b"")
        by_name = tuple(word.replace("@hosts", "@hosts/4") for word in map(str, arguments[:-2]))
        self.assertEqual(self.papfft(*by_name, "--text").stdout, self.papfft(*arguments, "--text").stdout)
        svg = self.path("s.svg").read_text()
        for host in range(3):
            self.assertIn(f">host {host}</text>", svg)
        self.papfft(*arguments, "-o", "s.png")
        self.assertEqual(self.path("s.png").read_bytes()[:4], b"\x89PNG")
        self.papfft("simulate", "--quiet", "--op", "bcast", "--algorithms", "circulant@hosts", "--hosts", "3x2", "--messages", "--json",
                    "m.json")
        self.assertEqual(json.loads(self.path("m.json").read_text())["rows"][0]["messages"]["host"], [0, 0, 1, 1, 2, 2])
        self.papfft("report", "m.json", "-o", "m.html")
        self.assertIn(">host 2</text>", self.path("m.html").read_text())
        result = run(command_line((*arguments, "-o", "s.pdf")), cwd=self.folder)
        self.assertEqual(result.returncode, 64)
        self.assertIn(".png or .svg", complaints(result.stderr)[0])

    def test_a_late_root_finds_the_others_sum_in_the_background(self):
        rows = self.rows("--algorithms", "papbi,bpapbi", "--ranks", 16, "--bytes", "1M", "--segments", 32, "--arrivals",
                         "root-late:100ms", "--gamma", 0)
        times = {row["algorithm"]: row["run_ns"]["mean"] for row in rows}
        self.assertEqual(times["bpapbi"], 100e6)
        self.assertGreaterEqual(times["papbi"], 100e6 + 8 * 2**20)
        over_best = {row["algorithm"]: row["over_best"] for row in rows}
        self.assertEqual(over_best["bpapbi"], 1)
        self.assertAlmostEqual(over_best["papbi"], times["papbi"] / times["bpapbi"])

    def test_the_best_number_of_segments_is_no_worse_than_any_tried(self):
        common = ("--algorithms", "bi-greedy", "--ranks", 24, "--bytes", "1M")
        best, = self.rows(*common, "--segments", "best")
        for row in self.rows(*common, "--segments", "1,2,16,64,256"):
            self.assertLessEqual(best["run_ns"]["mean"], row["run_ns"]["mean"] * 1.01)
        self.assertGreater(best["segments"], 16)

    def test_sweeps_are_the_product_and_repeat(self):
        arguments = ("simulate", "--algorithms", "papbi,bnom", "--ranks", "3,8", "--bytes", "4K,1M", "--segments", "1,8",
                     "--arrivals", "none,uniform:5ms", "--iterations", 5, "--csv", "out.csv")
        first = self.papfft(*arguments).stdout
        self.assertEqual(first, self.papfft(*arguments).stdout)
        with open(self.path("out.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 2 * 2 * 2 * 2 * 2)
        self.assertEqual({row["ranks"] for row in rows}, {"3", "8"})
        for row in rows:
            self.assertLessEqual(float(row["run_ns_min"]), float(row["run_ns"]))
            self.assertLessEqual(float(row["run_ns"]), float(row["run_ns_max"]))
        self.assertEqual(len(first.splitlines()), 1 + len(rows))

    def test_every_algorithm_is_simulated(self):
        for op in ("scatter", "gather", "bcast", "reduce"):
            names = {a["algorithm"] for a in json.loads(self.papfft("algorithms", "--json").stdout) if a["op"] == op}
            rows = self.rows("--op", op, "--ranks", 6, "--bytes", "300K", "--segments", 4, "--arrivals", "uniform:2ms")
            self.assertEqual({row["algorithm"] for row in rows}, names)
            for row in rows:
                self.assertGreater(row["run_ns"]["mean"], 0)

    def test_a_hundred_thousand_ranks(self):
        times = self.run_ns("--algorithms", "bnom,binary", "--ranks", 100000, "--bytes", 1000, "--segments", 1, "--gamma", 0)
        self.assertEqual(times["bnom"], 17 * (8000 + 8 * 1000))
        times = self.run_ns("--op", "scatter", "--algorithms", "bnom", "--ranks", 100000, "--bytes", 100000,
                            "--segments", 1)
        self.assertEqual(times["bnom"], 17 * 8000 + 8 * 99999)

    def test_mistakes_are_usage_errors_of_one_line(self):
        for arguments, said in ((("--algorithms", "magic"), "no reduce algorithm 'magic'"),
                                (("--algorithms", "mpi"), "not schedules"),
                                (("--root", "8"), "no rank 8 among 8"),
                                (("--segments", "0"), "--segments"),
                                (("--ports", "tri"), "--ports"),
                                (("--window", "0"), "--window 0: auto, a number from 1"),
                                (("--window", "2:"), "--window 2:: auto"),
                                (("--arrivals", "late:9:1ms"), "only 8 ranks"),
                                (("--algorithms", "papbi", "--ordered"), "commutative")):
            with self.subTest(arguments):
                result = run(command_line(("simulate", "--quiet", *arguments)), cwd=self.folder)
                self.assertEqual(result.returncode, 64, result.stderr.decode())
                said_lines = complaints(result.stderr)
                self.assertEqual(len(said_lines), 1)
                self.assertIn(said, said_lines[0])


class PlatformTest(ProgramTest):
    def simulated(self, *arguments):
        self.papfft("simulate", "--quiet", "--json", "out.json", *arguments)
        return json.loads(self.path("out.json").read_text())

    def refused(self, code, *arguments, program=PROGRAM):
        result = run([program, "simulate", "--quiet", *arguments], cwd=self.folder)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        said, = complaints(result.stderr)
        return said

    def test_without_simgrid_the_missing_package_is_named(self):
        shutil.copy(PROGRAM, self.path("alone"))  # away from its module
        said = self.refused(64, "--platform", "crossbar-1gbps.xml", program=str(self.path("alone")))
        self.assertIn("apt-get install libsimgrid-dev", said)

    def test_mistakes_of_the_command_line(self):
        self.assertIn("--alpha excludes --platform", self.refused(64, "--platform", "x.xml", "--alpha", "1us"))
        self.assertIn("--network requires --platform", self.refused(64, "--network", "tcp"))

    @unittest.skipUnless(HAS_SIMGRID, "built without SimGrid")
    def test_a_crossbar_takes_the_time_of_one_port_links(self):
        arguments = ("--op", "bcast", "--algorithms", "all", "--ranks", "8,20", "--bytes", "1M", "--segments", 8, "--arrivals",
                     "none,uniform:5ms", "--window", 1)
        ports = self.simulated(*arguments, "--alpha", "8us", "--beta", 8)
        platform = self.simulated(*arguments, "--platform", "crossbar-1gbps.xml")
        self.assertEqual(platform["settings"]["platform"], "crossbar-1gbps.xml")
        self.assertEqual(platform["settings"]["alpha"], "8us")
        self.assertEqual(platform["settings"]["beta_ns_per_byte"], 8)
        self.assertEqual(len(ports["rows"]), len(platform["rows"]))
        for mine, theirs in zip(ports["rows"], platform["rows"]):
            self.assertEqual(mine.keys() - {"after_last_ns"}, theirs.keys())  # SimGrid tells no single exits
            self.assertAlmostEqual(theirs["run_ns"]["mean"] / mine["run_ns"]["mean"], 1, delta=0.05, msg=mine)
        self.assertEqual(platform, self.simulated(*arguments, "--platform", "crossbar-1gbps.xml"))

    @unittest.skipUnless(HAS_SIMGRID, "built without SimGrid")
    def test_ranks_of_a_host_share_a_host_of_the_platform(self):
        # The leaders' pipeline of one segment: 4 us + 0.8 ns per byte to the other host, 1 us + 0.2 ns per byte inside.
        document = self.simulated("--op", "bcast", "--algorithms", "bnom@hosts,bnom", "--hosts", "2x2", "--bytes", 1000000,
                                  "--segments", 1, "--window", 1, "--platform", "hosts-64x32-10gbps.xml")
        self.assertEqual(document["settings"]["inside_beta_ns_per_byte"], 0.2)
        self.assertEqual(document["settings"]["inside_alpha"], "1us")
        for row in document["rows"]:
            self.assertAlmostEqual(row["run_ns"]["mean"], 804000 + 201000, delta=10)
            self.assertEqual(row["bound_ns"], 800000)
        # Two ranks of one host send to two of the other: half the link's rate for each.
        row, = self.simulated("--op", "allgather", "--algorithms", "recursive-doubling", "--hosts", "2x2:cyclic", "--bytes", 4000000,
                              "--segments", 1, "--window", 1, "--platform", "hosts-64x32-10gbps.xml")["rows"]
        self.assertAlmostEqual(row["run_ns"]["mean"], 4000 + 2 * 800000 + 1000 + 2 * 200000, delta=10)
        self.assertIn("has 64 hosts", self.refused(64, "--platform", "hosts-64x32-10gbps.xml", "--hosts", "65x1"))
        self.assertIn("excludes", self.refused(64, "--platform", "x.xml", "--hosts", "2x2", "--inside-beta", "1"))

    @unittest.skipUnless(HAS_SIMGRID, "built without SimGrid")
    def test_every_platform_of_ours(self):
        for file in sorted((REPOSITORY / "data" / "platforms").glob("*.xml")):
            with self.subTest(file.name):
                rows = self.simulated("--op", "allreduce", "--algorithms", "ring,circulant", "--ranks", 40, "--bytes", "1M",
                                      "--segments", 1, "--platform", file)["rows"]
                self.assertEqual(len(rows), 2)
                for row in rows:
                    self.assertGreater(row["run_ns"]["mean"], 0)

    @unittest.skipUnless(HAS_SIMGRID, "built without SimGrid")
    def test_sixteen_thousand_ranks(self):
        row, = self.simulated("--op", "bcast", "--algorithms", "bnom", "--ranks", 16384, "--bytes", "1K", "--segments", 1, "--window", 1,
                              "--platform", "crossbar-10gbps-16384.xml")["rows"]
        self.assertAlmostEqual(row["run_ns"]["mean"], 14 * (4000 + 0.8 * 1024), delta=14)  # log2 P messages, each in turn

    @unittest.skipUnless(HAS_SIMGRID, "built without SimGrid")
    def test_ranks_live_on_hosts_in_the_order_of_their_names(self):
        # h2 and h9 are near to each other, h10 is far: with two ranks the slow link is not used.
        self.path("near.xml").write_text('''<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">
  <host id="h10" speed="1Gf"/><host id="h9" speed="1Gf"/><host id="h2" speed="1Gf"/>
  <link id="fast" bandwidth="1GBps" latency="1us"/><link id="slow" bandwidth="1MBps" latency="1us"/>
  <route src="h2" dst="h9"><link_ctn id="fast"/></route>
  <route src="h2" dst="h10"><link_ctn id="slow"/></route>
  <route src="h9" dst="h10"><link_ctn id="slow"/></route>
</zone></platform>''')
        two, three = self.simulated("--op", "bcast", "--algorithms", "chain", "--ranks", "2,3", "--bytes", 1000000, "--segments",
                                    1, "--platform", "near.xml")["rows"]
        self.assertAlmostEqual(two["run_ns"]["mean"], 1e6 + 1e3, delta=10)
        self.assertAlmostEqual(three["run_ns"]["mean"], 1e6 + 1e9 + 2e3, delta=1000)
        self.assertIn("has 3 hosts", self.refused(64, "--platform", "near.xml", "--ranks", "4"))

    @unittest.skipUnless(HAS_SIMGRID, "built without SimGrid")
    def test_files_that_are_no_platforms(self):
        self.assertIn("No such file", self.refused(65, "--platform", "gone.xml"))
        self.assertIn("directory", self.refused(65, "--platform", "."))
        good = (REPOSITORY / "data" / "platforms" / "crossbar-1gbps.xml").read_text()
        for text in ("", "hello", "<platform", good.replace("125MBps", "fast"), good.replace("0-1023", "0-0"),
                     good.replace("sharing_policy", 'topology="DRAGONFLY" topo_parameters="1" sharing_policy')):
            with self.subTest(text[:20]):
                self.path("bad.xml").write_text(text)
                self.assertIn("bad.xml: ", self.refused(65, "--platform", "bad.xml"))
