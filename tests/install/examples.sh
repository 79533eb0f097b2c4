#!/bin/bash
# SPDX-License-Identifier: MIT
# Every example in the headers' comments and in the manuals compiles and runs.
# shellcheck source=tests/install/common.sh
source "$(dirname "$0")/common.sh"
programs=$(python3 "$here/fragments.py" "$PAPFFT_SOURCE" "$prefix" "$scratch") || fail "the examples cannot be taken out"
cpp_package=papfft-comm
[[ ! -e $prefix/include/papfft/fft.hpp ]] || cpp_package=papfft-fft
warnings=(-Wall -Wextra -Wno-unused -Werror)
for program in fragments.cpp fragments.c $programs; do
  if [[ $program == *.cpp ]]; then
    # shellcheck disable=SC2046
    mpicxx "${warnings[@]}" "$program" $(flags --cflags --libs "$cpp_package") "$rpath" -o program || fail "$program does not compile"
  else
    # shellcheck disable=SC2046
    mpicc -std=c99 "${warnings[@]}" "$program" $(flags --cflags --libs papfft-pat) "$rpath" -o program || fail "$program does not compile"
  fi
  run ./program || fail "$program does not run"
done
