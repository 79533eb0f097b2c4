#!/bin/bash
# SPDX-License-Identifier: MIT
# A user's programs by make and pkg-config, with the shared library and with the static one.
# shellcheck source=tests/install/common.sh
source "$(dirname "$0")/common.sh"
cp -r "$prefix/share/doc/papfft/app/examples" make_way
make -s -C make_way
run make_way/pat_gather | grep -x '3 ranks, 20 iterations, 0 wrong numbers' || fail "pat_gather's output"
run make_way/predicted_gather | grep -E '^3 ranks, last number 21, planned' || fail "predicted_gather's output"

# No word about the standard in CXXFLAGS: C++20 is in the .pc file. And nothing in papfft-pat.pc disturbs a compiler of C.
echo '#include <papfft/mpi.hpp>
int main() { return 0; }' >one.cpp
printf '#include <papfft/pat.h>\nint main(void) { return PAT_Init() == PAT_ERR_NO_MPI ? 0 : 1; }\n' >one.c
# shellcheck disable=SC2046
mpicxx -Wall -Werror $(flags --cflags papfft-comm) one.cpp $(flags --libs papfft-comm) "$rpath" -o one || fail "papfft-comm.pc"
# shellcheck disable=SC2046
mpicc -Wall -Werror -std=c99 $(flags --cflags papfft-pat) one.c $(flags --libs papfft-pat) "$rpath" -o one && ./one || fail "papfft-pat.pc"

# Where there is but the archive, --static links it.
mkdir -p static/lib/pkgconfig
cp "$prefix/$PAPFFT_LIBDIR/libpapfft_comm.a" static/lib
cp "$prefix/$PAPFFT_LIBDIR"/pkgconfig/*.pc static/lib/pkgconfig
ln -s "$prefix/include" static/include
export PKG_CONFIG_PATH=$scratch/static/lib/pkgconfig
# shellcheck disable=SC2046
mpicc -Wall -Werror -std=c99 $(flags --cflags papfft-pat) one.c $(flags --static --libs papfft-pat) -o static_one && ./static_one ||
  fail "pkg-config --static"
