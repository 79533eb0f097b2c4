#!/bin/bash
# SPDX-License-Identifier: MIT
# The shared libraries have a soname with the version, and export what the installed headers declare, nothing else.
# shellcheck source=tests/install/common.sh
source "$(dirname "$0")/common.sh"
echo '#include <papfft/pat.h>' | mpicc -E -P -I"$prefix/include" -x c - | grep PAT_ >pat
for library in "$prefix/$PAPFFT_LIBDIR"/libpapfft_*.so; do
  name=$(basename "$library")
  [[ $name != libpapfft_mpi.so ]] || continue
  version=$(pkg-config --modversion papfft-comm)
  soname=$(readelf -d "$library" | sed -nE 's/.*SONAME.*\[(.*)\]/\1/p')
  [[ $soname == "$name.${version%.*}" ]] || fail "$name: soname $soname with version $version"
  [[ -e $prefix/$PAPFFT_LIBDIR/$soname ]] || fail "no $soname"
  nm -DC --defined-only "$library" >"$name.symbols"
  python3 "$here/symbols.py" "$name.symbols" "$prefix/include/papfft" pat || fail "$name"
  "$PAPFFT_SOURCE/scripts/list_abi.sh" "$library" >"$name.abi"
  diff -u "$here/abi/${name%.so}.txt" "$name.abi" ||
    fail "$name: its ABI is not what is written down (CONTRIBUTING.md, A release, says what to do)"
done
# What is preloaded pre-empts calls of MPI, each by both of its names, and nothing else of any program's.
nm -D --defined-only "$prefix/$PAPFFT_LIBDIR/libpapfft_mpi.so" | awk '{ print $3 }' >preloaded
grep -qx PMPI_Allreduce preloaded || fail "libpapfft_mpi.so: no PMPI_Allreduce"
grep -vE '^P?MPIX?_[A-Z]' preloaded && fail "libpapfft_mpi.so: more than calls of MPI"
diff <(grep '^MPIX\?_' preloaded | sort) <(sed -n 's/^P\(MPIX\?_\)/\1/p' preloaded | sort) || fail "libpapfft_mpi.so: MPI_X without PMPI_X"
