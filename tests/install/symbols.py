#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Usage: symbols.py SYMBOLS HEADERS PAT: SYMBOLS is what `nm -DC --defined-only` says of a shared library. Each symbol must belong to
a class, function or variable that a header in HEADERS marks with PAPFFT_API, or declares where visibility is pushed to default;
and each function of C that PAT declares, which is papfft/pat.h as the preprocessor leaves it, must be there."""
import re
import sys
from pathlib import Path

symbols = [line.split(maxsplit=2)[2] for line in Path(sys.argv[1]).read_text().splitlines() if len(line.split()) > 2]
text = "".join(path.read_text() for path in sorted(Path(sys.argv[2]).rglob("*.h*")))
text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
classes = set(re.findall(r"(?:class|struct) PAPFFT_API (\w+)", text))
functions = set(re.findall(r"PAPFFT_API [^;{(]*?(\w+)\(", text))
mpi_calls = set(re.findall(r"\bDO\(\w+, (\w+),", text))
for open_part in re.findall(r"visibility push\(default\)(.*?)#pragma GCC visibility pop", text, flags=re.S):
    declared = re.findall(r"\b([\w#]+)\([^;{]*\)\s*;", re.sub(r"#define \w+\([^)]*\)", "", open_part))
    # A macro makes a function of each name in papfft/mpi_lists.h.
    functions |= {f.replace("##name##", name).replace("##name", name) for f in declared for name in mpi_calls}
of_c = set(re.findall(r"\bint (PAT_\w+)\(|\* (PAT_\w+)\(", Path(sys.argv[3]).read_text()))
of_c = {name for names in of_c for name in names if name}
hidden = set(re.findall(r"(?:class|struct) PAPFFT_LOCAL (\w+)", text))
about = r"(?:typeinfo(?: name)? for |vtable for |VTT for |(?:non-virtual|virtual) thunk to |guard variable for )"


def why_not(symbol):
    """What is wrong with a symbol, or nothing."""
    if "::" not in symbol:
        return None if symbol in of_c else "no function of C that papfft/pat.h declares"
    # Up to the parameters: templates' arguments and results do not matter.
    name = re.sub(about, "", symbol)
    name = re.sub(r"<[^()]*>", "", name).split("(")[0].split()[-1]
    parts = name.split("::")
    if parts[:1] != ["papfft"]:
        return "not ours"
    if any(part in hidden for part in parts):
        return "an inner part"
    if any(part in classes for part in parts) or parts[-1] in functions:
        return None
    return "nothing that a header marks with PAPFFT_API"


errors = [f"{symbol}: {why}" for symbol in symbols if (why := why_not(symbol))]
if any(symbol.startswith("PAT_") for symbol in symbols):
    errors += [f"{name} is declared and not exported" for name in sorted(of_c) if name not in symbols]
    if len(of_c) < 40:
        errors.append(f"only {len(of_c)} functions of C")
if len(symbols) < 20:
    errors.append(f"only {len(symbols)} symbols")
print("\n".join(errors) or f"{len(symbols)} symbols, all of the API")
sys.exit(bool(errors))
