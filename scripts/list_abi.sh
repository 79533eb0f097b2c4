#!/bin/bash
# SPDX-License-Identifier: MIT
# Usage: scripts/list_abi.sh LIBRARY.so
# What programs that are linked with a shared library rely on: its soname, and the functions and variables that it exports.
set -euo pipefail
readelf -d "$1" | sed -nE 's/.*SONAME.*\[(.*)\]/soname \1/p'
nm -DC --defined-only "$1" | LC_ALL=C sed -nE 's/^[0-9a-f]+ [BDRSTVW] //p' | LC_ALL=C sort -u
