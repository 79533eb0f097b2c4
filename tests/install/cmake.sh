#!/bin/bash
# SPDX-License-Identifier: MIT
# A user's projects by CMake: with the shared library, with the static one, in C++ alone, in C alone, and as the tutorial says.
# shellcheck source=tests/install/common.sh
source "$(dirname "$0")/common.sh"

project() { # FOLDER SOURCE [CMAKE OPTION...]
  cmake -S "$2" -B "$1" -DCMAKE_PREFIX_PATH="$prefix" "${@:3}" >log 2>&1 || { cat log; fail "cmake -S $2"; }
  cmake --build "$1" >log 2>&1 || { cat log; fail "the build of $2"; }
}
check_examples() { # FOLDER
  run "$1/pat_gather" | tee out
  grep -qx '3 ranks, 20 iterations, 0 wrong numbers' out || fail "pat_gather's output"
  run "$1/predicted_gather" | tee out
  grep -qE '^3 ranks, last number 21, planned by arrivals [0-9]+ of 20 calls$' out || fail "predicted_gather's output"
}
links_shared() { readelf -d "$1" | grep -q 'NEEDED.*libpapfft_comm\.so\.'; }

project shared "$prefix/share/doc/papfft/app/examples"
check_examples shared
links_shared shared/predicted_gather || fail "papfft::comm is not the shared library"
project static "$prefix/share/doc/papfft/app/examples" -DPAPFFT_USE_STATIC_LIBS=ON
check_examples static
if links_shared static/predicted_gather; then fail "PAPFFT_USE_STATIC_LIBS takes the shared library"; fi

mkdir boundary first only_C
cp "$here/boundary.cpp" boundary
cat >boundary/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(boundary LANGUAGES CXX)
find_package(papfft REQUIRED)
foreach(kind shared static)
  add_executable(boundary_${kind} boundary.cpp)
  target_link_libraries(boundary_${kind} PRIVATE papfft::comm_${kind})
endforeach()
CMAKE
project boundary/build boundary
for kind in shared static; do run boundary/build/boundary_$kind || fail "what crosses the boundary of the $kind library"; done

# The tutorial's program and CMakeLists.txt, as they stand there.
tutorial=$prefix/share/doc/papfft/docs/tutorial/first-program.md
block() { awk -v start="\`\`\`$1" '$0 == start { on = 1; next } $0 == "```" { on = 0 } on' "$tutorial"; }
block cpp >first/first_program.cpp
block cmake >first/CMakeLists.txt
project first/build first
run first/build/first_program | grep -q '^3 ranks' || fail "the tutorial's program"

printf 'cmake_minimum_required(VERSION 3.25)\nproject(x LANGUAGES C)\nfind_package(papfft REQUIRED)\n' >only_C/CMakeLists.txt
if cmake -S only_C -B only_C/build -DCMAKE_PREFIX_PATH="$prefix" >log 2>&1; then fail "a project in C alone was accepted"; fi
tr -s '\n ' ' ' <log | grep -q 'languages C CXX' || fail "a project in C alone: no hint"
