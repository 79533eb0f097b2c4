#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs the build into a folder, and moves that: an installed tree can be moved.
# shellcheck source=tests/install/common.sh
source "$(dirname "$0")/common.sh"
cmake --install "$PAPFFT_BUILD" --prefix "$scratch/first" >log || { cat log; fail "cmake --install"; }
rm -rf "$prefix"
mkdir -p "$(dirname "$prefix")"
mv first "$prefix"
if grep -rlI "$scratch\|$PAPFFT_SOURCE" "$prefix/$PAPFFT_LIBDIR" "$prefix/include"; then fail "these name the folders that they were built in"; fi
