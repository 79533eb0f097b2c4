#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Usage: scripts/check_licences.py
Checks that every file has a licence: a line with SPDX among its first, or a line of scripts/licences.txt that says it for files that
have no comments. Works in a source archive, too, which git knows nothing of."""
import fnmatch
import re
import subprocess
import sys
from pathlib import Path

root = Path(__file__).resolve().parent.parent
KNOWN = {"MIT", "CC0-1.0"}


def files():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True)
    if listed.returncode == 0 and (root / ".git").exists():
        return [name for name in listed.stdout.splitlines() if (root / name).is_file()]
    return [str(path.relative_to(root)) for path in root.rglob("*")
            if path.is_file() and path.relative_to(root).parts[0] not in ("build", ".git")]


patterns = [line.split(maxsplit=2)[:2] for line in (root / "scripts/licences.txt").read_text().splitlines()
            if line and not line.startswith("#")]
unused = {pattern for pattern, _ in patterns}
errors = []
for name in sorted(files()):
    head = (root / name).read_bytes()[:1000].decode(errors="replace")
    found = re.search(r"SPDX-License-Identifier: (\S+)", "\n".join(head.splitlines()[:5]))
    licence = found[1] if found else None
    for pattern, stated in patterns:
        if licence is None and fnmatch.fnmatch(name, pattern):
            licence = stated
            unused.discard(pattern)
    if licence is None:
        errors.append(f"{name}: no licence; what would work: a line with SPDX-License-Identifier: MIT, or a line in scripts/licences.txt")
    elif licence not in KNOWN:
        errors.append(f"{name}: licence {licence} is none of {', '.join(sorted(KNOWN))}")
errors += [f"scripts/licences.txt: no file needs the line {pattern}" for pattern in sorted(unused)]
print("\n".join(errors) or f"{len(files())} files have a licence")
sys.exit(bool(errors))
