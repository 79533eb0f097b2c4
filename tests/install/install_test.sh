#!/bin/bash
# SPDX-License-Identifier: MIT
# install_test.sh BUILD_FOLDER SOURCE_FOLDER WITH_APP: installs the build into a folder of its own, moves that, and uses it as a
# user would: by CMake, by pkg-config, at the command line.
set -euo pipefail
build=$1 source=$2 with_app=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "install_test: $*" >&2; exit 1; }
run() { # 3 ranks
  mpirun -n 3 --bind-to none "$@"
}

cmake --install "$build" --prefix "$scratch/first" >"$scratch/log"
mv "$scratch/first" "$scratch/prefix" # an installed tree can be moved
prefix=$scratch/prefix
cd "$scratch"

echo "every public header compiles alone"
for header in "$prefix"/include/papfft/*.hpp; do
  mpicxx -std=c++20 -fsyntax-only -DOMPI_SKIP_MPICXX -I"$prefix/include" -include "$header" -x c++ /dev/null ||
    fail "$header does not compile alone"
done
for language in 'mpicc -std=c99 -pedantic -x c' 'mpicxx -std=c++20 -DOMPI_SKIP_MPICXX -x c++'; do
  echo '#include "papfft/pat.h"' | $language -Wall -Wextra -Werror -fsyntax-only -I"$prefix/include" - || fail "pat.h by $language"
done

check_examples() { # FOLDER
  run "$1/pat_gather" | tee out
  grep -qx '3 ranks, 20 iterations, 0 wrong numbers' out || fail "pat_gather's output"
  run "$1/predicted_gather" | tee out
  grep -qE '^3 ranks, last number 21, planned by arrivals [0-9]+ of 20 calls$' out || fail "predicted_gather's output"
}

echo "find_package"
cmake -S "$source/app/examples" -B cmake_way -DCMAKE_PREFIX_PATH="$prefix" >>log
cmake --build cmake_way >>log
check_examples cmake_way
for languages in CXX C; do # without C it works; without C++ it says what is missing
  mkdir "only_$languages"
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(x LANGUAGES %s)\nfind_package(papfft REQUIRED)\n' "$languages" \
    >"only_$languages/CMakeLists.txt"
done
cmake -S only_CXX -B only_CXX/build -DCMAKE_PREFIX_PATH="$prefix" >>log || fail "find_package in a project of C++ alone"
if cmake -S only_C -B only_C/build -DCMAKE_PREFIX_PATH="$prefix" >only_C/log 2>&1; then fail "C alone was accepted"; fi
tr -s '\n ' ' ' <only_C/log | grep -q 'languages C CXX' || fail "C alone: no hint"

echo "pkg-config"
cp -r "$source/app/examples" make_way
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name papfft-comm.pc)")
export PKG_CONFIG_PATH
make -s -C make_way
check_examples make_way

echo "the READMEs' programs"
for readme in README.md comm/README.md; do
  sed -n '/^```cpp$/,/^```$/{/^```/!p}' "$source/$readme" >snippet
  grep -q papfft::comm snippet || fail "$readme has no program"
  {
    grep '^#include' snippet
    printf '#include <%s>\n' functional vector
    echo 'extern std::vector<double> mine, whole, sum, all; extern std::vector<std::size_t> counts; extern double buffer[100];'
    echo 'constexpr int iterations = 1; void first_half(); void second_half();'
    echo 'void program() {'
    grep -v '^#include' snippet
    echo '}'
  } >readme.cpp
  # shellcheck disable=SC2046
  mpicxx -std=c++20 -Wall -Werror -fsyntax-only $(pkg-config --cflags papfft-comm) readme.cpp || fail "the program in $readme"
done

if [[ $with_app != ON ]]; then exit 0; fi
echo "the program"
"$prefix/bin/papfft" --version
"$prefix/bin/papfft" cluster --help | grep -q 'papfft cluster COMMAND' || fail "papfft cluster"
cat >fft.cpp <<'CPP'
#include <fft/engines/parallel_fft.hpp>
#include <papfft/fft/engines/parallel_fft.hpp>
int main() { return papfft::fft::FftwPlan<float>::get(papfft::fft::PlanKind::real_forward, 8, {}) == nullptr; }
CPP
# shellcheck disable=SC2046
mpicxx -std=c++20 $(pkg-config --cflags papfft-fft) fft.cpp -o fft $(pkg-config --libs papfft-fft)
./fft || fail "a program with papfft::fft"
mkdir fft_way
printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(x LANGUAGES CXX)' 'find_package(papfft REQUIRED COMPONENTS fft)' \
  'add_executable(x ../fft.cpp)' 'target_compile_features(x PRIVATE cxx_std_20)' 'target_link_libraries(x papfft::fft)' >fft_way/CMakeLists.txt
cmake -S fft_way -B fft_way/build -DCMAKE_PREFIX_PATH="$prefix" >>log
cmake --build fft_way/build >>log
./fft_way/build/x || fail "a program with papfft::fft by CMake"

pages=$("$prefix/bin/papfft" --help |
  awk '/^Examples:/ { over = 1 } !over && /^  [a-z]/ { print "papfft-" $1 }')
[[ $pages == *papfft-transform* ]] || fail "no commands in --help"
for page in papfft $pages; do
  file=$prefix/share/man/man1/$page.1
  [[ -s $file ]] || fail "no manual page $page"
  for section in NAME SYNOPSIS; do
    grep -q "^\.SH $section" "$file" || fail "$page.1 has no $section"
  done
  if command -v groff >/dev/null; then
    [[ -z $(groff -man -ww -Tutf8 "$file" 2>&1 >/dev/null) ]] || fail "groff has complaints about $page.1"
  fi
done

complete_words() { # WORD...: the candidates for the last one
  COMP_WORDS=("$prefix/bin/papfft" "$@") COMP_CWORD=$#
  _papfft 2>/dev/null
  echo " ${COMPREPLY[*]} "
}
# shellcheck disable=SC1091
source "$prefix/share/bash-completion/completions/papfft"
[[ $(complete_words tra) == ' transform ' ]] || fail "completion of a command"
[[ $(complete_words transform --inv) == ' --inverse ' ]] || fail "completion of an option"
[[ $(complete_words transform --gather sl) == ' sls ' ]] || fail "completion of an algorithm"
[[ $(complete_words schedule --op scatter --algorithm sl) == ' sln ' ]] || fail "completion of an operation's algorithm"
echo "all is there"
