#!/bin/bash
# SPDX-License-Identifier: MIT
# A user's program with the fft library, by pkg-config and by CMake, shared and static.
# shellcheck source=tests/install/common.sh
source "$(dirname "$0")/common.sh"
export OMP_NUM_THREADS=1
cp "$here/fft_user.cpp" .
# shellcheck disable=SC2046
mpicxx -Wall -Werror $(flags --cflags papfft-fft) fft_user.cpp $(flags --libs papfft-fft) "$rpath" -o fft_user || fail "papfft-fft.pc"
run ./fft_user | grep -x '3 ranks, 0 wrong' || fail "the program by pkg-config"

mkdir project
cat >project/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(fft_user LANGUAGES CXX)
find_package(papfft REQUIRED COMPONENTS fft)
foreach(kind shared static)
  add_executable(fft_user_${kind} ../fft_user.cpp)
  target_link_libraries(fft_user_${kind} PRIVATE papfft::fft_${kind})
endforeach()
CMAKE
cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$prefix" >log 2>&1 || { cat log; fail "cmake"; }
cmake --build project/build >log 2>&1 || { cat log; fail "the build by CMake"; }
for kind in shared static; do run project/build/fft_user_$kind | grep -x '3 ranks, 0 wrong' || fail "the program with the $kind library"; done
