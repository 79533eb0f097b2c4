#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Usage: scripts/check_layers.py
Checks that no file includes one of a higher layer (layers.txt), and that only comm/mpi includes <mpi.h> within comm/."""
import re
import subprocess
import sys
from pathlib import Path

root = Path(__file__).resolve().parent.parent
layers = [line for line in (root / "scripts/layers.txt").read_text().splitlines() if line and not line.startswith("#")]


def layer_of(path):
    """The index of the longest line that `path` lies under, or None."""
    found = [layer for layer in layers if path.startswith(layer + "/")]
    return layers.index(max(found, key=len)) if found else None


def file_of(include):
    return "include/" + include if include.startswith("papfft/") else include


tracked = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "comm", "fft", "app", "include"], cwd=root,
                         check=True, capture_output=True, text=True).stdout.split()
errors = []
for path in sorted(p for p in tracked if p.endswith((".cpp", ".hpp", ".h", ".c", ".inc")) and (root / p).exists()):
    if path.startswith("app/examples/"):
        continue
    here = layer_of(path)
    if here is None:
        errors.append(f"{path}: in no layer")
        continue
    for number, line in enumerate((root / path).read_text().splitlines(), 1):
        if (include := re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line)) is None:
            continue
        there = layer_of(file_of(include[1]))
        if there is not None and there > here:
            errors.append(f"{path}:{number}: {layers[here]} includes {include[1]} of the higher {layers[there]}")
        if include[1] == "mpi.h" and path.startswith("comm/") and not path.startswith("comm/mpi/"):
            errors.append(f"{path}:{number}: only comm/mpi may include mpi.h")
print("\n".join(errors) or f"{len(layers)} layers: no file includes a higher one")
sys.exit(bool(errors))
