#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Usage: links.py FOLDER: checks that every relative link in the folder's Markdown files leads somewhere: to a file there, and
to a heading of it where the link names one."""
import re
import subprocess
import sys
from pathlib import Path

root = Path(sys.argv[1]).resolve()


def anchors(path):
    """The headings of a Markdown file, as they are linked to."""
    found = set()
    for line in re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S).splitlines():
        if heading := re.match(r"#+ (.*)", line):
            text = re.sub(r"[^\w\- ]", "", heading[1].strip().lower()).replace(" ", "-")
            found.add(text)
    return found


def without_code(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def files():
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True, text=True)
    inside = subprocess.run(["git", "-C", root, "rev-parse", "--show-toplevel"], capture_output=True, text=True)
    if inside.returncode == 0 and Path(inside.stdout.strip()) == root:
        return [root / name for name in listed.stdout.split() if (root / name).exists()]
    return sorted(root.rglob("*.md"))


errors = []
count = 0
for path in files():
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(path.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        count += 1
        name, _, anchor = target.partition("#")
        there = (path.parent / name).resolve() if name else path
        if not there.exists():
            errors.append(f"{path.relative_to(root)}: {target}: no such file")
        elif not there.is_relative_to(root):
            errors.append(f"{path.relative_to(root)}: {target}: leads out of {root}")
        elif anchor and anchor not in anchors(there):
            errors.append(f"{path.relative_to(root)}: {target}: no such heading")
print("\n".join(errors) or f"{count} links lead somewhere")
sys.exit(bool(errors) or count == 0)
