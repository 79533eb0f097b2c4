#!/bin/bash
# SPDX-License-Identifier: MIT
# comm/ builds with a compiler, CMake, MPI and threads alone, though more is installed here: nothing else is found, and no file
# that is compiled includes any of it. What comes out is installed and used. It is built of what a source archive holds, and without git.
# shellcheck source=tests/install/common.sh
source "$(dirname "$0")/common.sh"
hidden=(-DPKG_CONFIG_EXECUTABLE=/nonexistent)
for package in Boost CLI11 fmt nlohmann_json PNG OpenMP GTest PkgConfig; do hidden+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON"); done
source=$PAPFFT_SOURCE
if [[ -e $source/.git ]]; then
  mkdir source bin
  git -C "$source" ls-files -z | tar -C "$source" --create --null --files-from=- --ignore-failed-read 2>/dev/null | tar -C source --extract
  source=$scratch/source
  printf '#!/bin/sh\necho "git $*" >>%s/called\nexit 1\n' "$scratch" >bin/git
  chmod +x bin/git
  PATH=$scratch/bin:$PATH
fi
cmake -S "$source" -B build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DPAPFFT_BUILD_APP=OFF -DPAPFFT_BUILD_TESTS=OFF \
  -DCMAKE_INSTALL_PREFIX="$scratch/prefix" "${hidden[@]}" >log 2>&1 || { cat log; fail "cmake"; }
cmake --build build -j2 >log 2>&1 || { tail -n 40 log; fail "the build"; }
[[ ! -e called ]] || { cat called; fail "git was called"; }
ninja -C build -t deps >dependencies
grep -q 'include/papfft/collectives.hpp' dependencies || fail "no list of what is included"
if grep -E '/(boost|CLI|fmt|nlohmann|gtest|gmock|cairo|simgrid)/|fftw3|sndfile|png\.h|omp\.h' dependencies; then fail "these are included"; fi
cmake --install build >log || { cat log; fail "the installation"; }

export PKG_CONFIG_PATH=$scratch/prefix/$PAPFFT_LIBDIR/pkgconfig
make -s -C prefix/share/doc/papfft/app/examples predicted_gather CXXFLAGS="-O0 $(flags --cflags papfft-comm)"
run prefix/share/doc/papfft/app/examples/predicted_gather | grep '^3 ranks, last number 21' || fail "the example"
