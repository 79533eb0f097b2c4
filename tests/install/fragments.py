#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Usage: fragments.py SOURCE_FOLDER PREFIX OUT_FOLDER
Takes every example out of the installed headers' comments and of the manuals (blocks between ```cpp or ```c and ```), and makes
programs of them in OUT_FOLDER: fragments.cpp and fragments.c, where each is a function of its own, and NAME_LINE.cpp or .c for
those that are whole programs. A comment in a header that holds code outside of such a block is an error."""
import re
import sys
from pathlib import Path

source, prefix, out = (Path(argument).resolve() for argument in sys.argv[1:4])
here = Path(__file__).resolve().parent


def comment_lines(path):
    """A header's comments, with what marks them as such taken off; code as empty lines."""
    lines = []
    for line in path.read_text().splitlines():
        match = re.match(r"\s*(?:///?|/\*|\*)(?: (.*)|$)", line)
        lines.append((match[1] or "") if match else "")
    return lines


def blocks(lines):
    """(language, number of the first line, lines) of each block."""
    language, first, found = None, 0, []
    for number, line in enumerate(lines, 1):
        if language is None:
            if match := re.fullmatch(r"\s*```(cpp|c)\s*", line):
                language, first, found = match[1], number + 1, []
        elif line.strip() == "```":
            yield language, first, found
            language = None
        else:
            found.append(line)
    if language is not None:
        sys.exit(f"a block of {language} has no end")


def outside_of_blocks(lines):
    inside = False
    for number, line in enumerate(lines, 1):
        if line.strip().startswith("```"):
            inside = not inside
        elif not inside:
            yield number, line


files = [(path, comment_lines(path)) for path in sorted((prefix / "include/papfft").rglob("*.h*"))]
for path, lines in files:
    for number, line in outside_of_blocks(lines):
        if re.match(r"    .*[;{}]\s*(//.*)?$", line):
            sys.exit(f"{path}:{number}: an example that is not between ``` lines is not tested: {line.strip()}")
manuals = [source / "README.md", *sorted((source / "docs").rglob("*.md")), *sorted((source / "comm").rglob("*.md")),
           *sorted((source / "fft").rglob("*.md"))]
files += [(path, path.read_text().splitlines()) for path in manuals]

functions = {"cpp": [], "c": []}
includes = {"cpp": set(), "c": set()}
out.mkdir(parents=True, exist_ok=True)
programs = []
for path, lines in files:
    for language, first, code in blocks(lines):
        name = re.sub(r"\W", "_", f"{path.stem}_{first}")
        if any("int main(" in line for line in code):
            (out / f"{name}.{language}").write_text("\n".join(code) + "\n")
            programs.append(f"{name}.{language}")
            continue
        includes[language] |= {line for line in code if line.startswith("#include")}
        # An #include stays as an empty line, so that the compiler's messages name the right one.
        body = "\n".join("" if line.startswith("#include") else line for line in code)
        functions[language].append((name, f'#line {first} "{path}"\n{body}\n'))

for path in (prefix / "include/papfft").glob("*.hpp"):
    includes["cpp"].add(f"#include <papfft/{path.name}>")
includes["c"].add("#include <papfft/pat.h>")
header = {"cpp": "fragment_context.hpp", "c": "fragment_context.h"}
for language, these in functions.items():
    if not these:
        sys.exit(f"no example in {language}")
    text = "\n".join(sorted(includes[language])) + f'\n#include <stdio.h>\n#include "{here / header[language]}"\n\n'
    for name, body in these:
        if language == "cpp":
            text += f"namespace {{\nstruct Fragment_{name} : Context {{\nvoid run() {{\n{body}}}\n}};\n}}\n"
        else:
            text += f"static void fragment_{name}(void) {{\n{body}}}\n"
    text += "int main(int argc, char** argv) {\n  int provided;\n  int rank;\n"
    text += "  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);\n  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
    for name, _ in these:
        text += f"  Fragment_{name}().run();\n" if language == "cpp" else f"  fragment_{name}();\n"
    text += f'  if (rank == 0) puts("{len(these)} examples");\n  MPI_Finalize();\n  return 0;\n}}\n'
    (out / f"fragments.{language}").write_text(text)
print(" ".join(programs))
