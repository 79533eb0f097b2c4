#!/bin/bash
# SPDX-License-Identifier: MIT
# The shared libraries have a soname with the version, and export what the installed headers declare, nothing else.
# shellcheck source=tests/install/common.sh
source "$(dirname "$0")/common.sh"
echo '#include <papfft/pat.h>' | mpicc -E -P -I"$prefix/include" -x c - | grep PAT_ >pat
for library in "$prefix/$PAPFFT_LIBDIR"/libpapfft_*.so; do
  name=$(basename "$library")
  version=$(pkg-config --modversion papfft-comm)
  soname=$(readelf -d "$library" | sed -nE 's/.*SONAME.*\[(.*)\]/\1/p')
  [[ $soname == "$name.${version%.*}" ]] || fail "$name: soname $soname with version $version"
  [[ -e $prefix/$PAPFFT_LIBDIR/$soname ]] || fail "no $soname"
  nm -DC --defined-only "$library" >"$name.symbols"
  python3 "$here/symbols.py" "$name.symbols" "$prefix/include/papfft" pat || fail "$name"
done
