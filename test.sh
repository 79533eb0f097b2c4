#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: ./test.sh [--quick | --long] [--keep-going]
# Everything that must hold before a change is merged: format, warnings, tests, sanitizers, static analysis, fuzzers.
#   --quick       without sanitizers, static analysis and fuzzers
#   --long        also the tests with the label `long`, pure tests and those of MPI under AddressSanitizer, clang-tidy of all sources,
#                 the program by clang, the static analyzer, and the fuzzers for 5 minutes each
#   --keep-going  a build goes on after its first error, to show all of them
# One line per stage; what a stage prints goes to build/logs/STAGE.log, and its end is shown when the stage fails. A failed
# stage does not stop those after it. The last line counts all cases; the exit code is 1 when any failed.
set -uo pipefail
cd "$(dirname "$0")" || exit 1

quick=false
fuzz_seconds=6
tidy_checks=--checks=-bugprone-suspicious-include # which several sources at once are
# What clang-tidy reads, by the paths of its sources: comm/, several sources at once, as the standard library's headers take it most of
# its time.
tidy_folders='^comm/'
tidy_unity=ON
# Without the generators of schedules: pure functions, each of which the verifier runs for many groups.
tidy_without='^comm/schedule/(all|bcast|gather|reduce|scatter)'
tsan_targets=(papfft_thread_tests papfft_fft_tests)
tsan_labels='fft|threads'
tsan_without='^(PowerOfTwoTest|FftProperties|FftAccuracy)\.' # which have one thread
# The fuzz stage runs the parsers under the same sanitizers.
asan_targets=(papfft_thread_tests papfft_fft_tests)
asan_labels='fft|threads'
# Of the tests with MPICH: those of what differs from Open MPI.
mpich_targets=(papfft_preload papfft_preload_{conformance,threads,repeat,overlap,fortran} papfft_pat_test)
mpich_tests=(-R '^preload\.(Large|Fortran|Threads|Mistakes|StartedRefused)$|^papfft_pat_test\.(results|persistent)\.np2$')
ninja_options=()
without_long=(-LE '^long$')
for argument in "$@"; do
  case $argument in
    --quick) quick=true ;;
    --long)
      without_long=() fuzz_seconds=300 tidy_checks='--checks=clang-analyzer-*,-clang-analyzer-optin.mpi.*' tidy_folders='^(comm|fft|app)/' tidy_without='^$' tidy_unity=OFF
      mpich_targets=(all) mpich_tests=(-E 'np[4-8]$|^preload\.(Stock|On|AllOperations|FewCommunicators|Reproducible|Valgrind|LongSoak)$')
      tsan_targets+=(papfft papfft_preload papfft_preload_{soak,conformance}) tsan_labels+='|preload'
      asan_targets+=(papfft_unit_tests papfft_io_tests papfft_mpi_tests) asan_labels+='|unit|io|np1|np2|np4'
      ;;
    --keep-going) ninja_options=(-- -k 0) ;;
    *) sed -n '3,8p' "$0" >&2; exit 64 ;;
  esac
done

logs=$PWD/build/logs
jobs=$(nproc)
passed=0 failed=0 skipped=0
export CTEST_OUTPUT_ON_FAILURE=1 GTEST_COLOR=no CLICOLOR=0 PYTHONDONTWRITEBYTECODE=1
green='' red='' plain=''
if [ -t 1 ] && [ "${CI:-false}" != true ]; then green=$'\e[32m' red=$'\e[31m' plain=$'\e[0m'; fi
mkdir -p "$logs"

# count STAGE PASSED FAILED SKIPPED: adds to the totals and prints the stage's line.
count() {
  local word="${green}ok${plain}    " text="$2 passed, $3 failed"
  [ "$3" -eq 0 ] || word="${red}FAILED${plain}"
  [ "$4" -eq 0 ] || text+=", $4 skipped"
  printf '%-20s %s %s  (%d s, %d s of CPU)\n' "$1" "$word" "$text" "$wall_s" "$cpu_s"
  passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
  if [ "$3" -gt 0 ]; then tail -n 60 "$logs/$1.log" | sed 's/^/    /'; fi
}

# limited STAGE SECONDS COMMAND...: runs it with its output in the stage's log; sets wall_s and cpu_s. Nothing may hang.
limited() {
  local log=$logs/$1.log seconds=$2 code=0 TIMEFORMAT='%R %U %S' spent
  shift 2
  spent=$({ time timeout --kill-after=10 "$seconds" "${fixed_addresses[@]}" "$@" >>"$log" 2>&1 </dev/null; } 2>&1) || code=$?
  read -r wall_s cpu_s < <(awk '{ printf "%d %d\n", $1, $2 + $3 }' <<<"$spent")
  [ "$code" -ne 124 ] || echo "ended after $seconds s without a result" >>"$log"
  return "$code"
}

# check STAGE SECONDS COMMAND...: a stage that is one case.
check() {
  : >"$logs/$1.log"
  if limited "$@"; then count "$1" 1 0 0; else count "$1" 0 1 0; fi
}

# build PRESET SECONDS TARGET...: a case of its own; CMake's and the compiler's warnings are errors.
build() {
  local preset=$1 seconds=$2
  shift 2
  # shellcheck disable=SC2016  # expanded by the inner shell
  check "build-$preset" "$seconds" sh -c '
    preset=$1; jobs=$2; shift 2
    cmake --preset "$preset" -DPAPFFT_BUILD_TESTS=ON && cmake --build --preset "$preset" -j"$jobs" --target "$@"
  ' build "$preset" "$jobs" "$@" "${ninja_options[@]}"
}

# run_tests STAGE PRESET SECONDS [CTEST OPTION...]: counts the cases that ctest ran.
run_tests() {
  local stage=$1 preset=$2 seconds=$3 junit=$logs/$1.xml total bad skip
  shift 3
  : >"$logs/$stage.log"
  rm -f "$junit"
  limited "$stage" "$seconds" \
    ctest --test-dir "build/$preset" -j$((jobs + 2)) --timeout 300 --no-tests=error --output-junit "$junit" "$@"
  if [ ! -s "$junit" ]; then
    count "$stage" 0 1 0
    return
  fi
  read -r total bad skip < <(tr '\n' ' ' <"$junit" |
    sed -E 's/.*<testsuite [^>]*tests="([0-9]+)"[^>]*failures="([0-9]+)"[^>]*skipped="([0-9]+)".*/\1 \2 \3/')
  count "$stage" $((total - bad - skip)) "$bad" "$skip"
}

# Static analysis takes the time that tests leave while they wait: it runs beside the stages from here on, and only when a core is idle.
start_tidy() {
  : >"$logs/tidy.log"
  trap 'pkill -s 0 -x "xargs|clang-tidy|ninja"; exit 130' INT TERM
  {
    limited tidy $((fuzz_seconds * 300)) chrt --idle 0 bash -c check_tidy
    echo "$? $wall_s $cpu_s" >"$logs/tidy.end"
  } &
}
end_tidy() {
  wait
  read -r code wall_s cpu_s <"$logs/tidy.end"
  if [ "$code" -eq 0 ]; then count tidy 1 0 0; else count tidy 0 1 0; fi
}

sources() { git ls-files -- "$@" | while read -r file; do [ ! -e "$file" ] || echo "$file"; done; }

check_tidy() {
  # One by one and without precompiled headers, clang-tidy also sees where a source does not include what it uses.
  cmake --preset tsan -B build/tidy -DPAPFFT_PRECOMPILE=OFF -DPAPFFT_UNITY=$tidy_unity >/dev/null || return
  sed -nE 's/^ *"file": "(.*)",?$/\1/p' build/tidy/compile_commands.json | sed "s,^$PWD/,," | sed 's,^build/tidy/,,' |
    grep -E "$tidy_folders" | grep -vE "$tidy_without" | sort -u | while read -r file; do
      if [ -e "$file" ]; then echo "$file"; else echo "build/tidy/$file"; fi
    done | xargs -P"$jobs" -n2 clang-tidy -p build/tidy --quiet ${tidy_checks:+"$tidy_checks"}
}

check_scripts() { sources '*.sh' '.ci/run' | xargs shellcheck -x --severity=warning; }
check_format() { sources '*.cpp' '*.hpp' '*.c' '*.h' | xargs clang-format --dry-run -Werror; }
export -f sources check_tidy check_scripts check_format
export jobs tidy_checks tidy_folders tidy_without tidy_unity

# Sanitizers of this age do not know the wide address randomisation of newer kernels.
fixed_addresses=()
if setarch -R true 2>/dev/null; then fixed_addresses=(setarch -R); fi

: >"$logs/install.log"
if ! limited install 600 scripts/install.sh test; then count install 0 1 0; fi

check format 60 bash -c check_format
check scripts 60 bash -c check_scripts
check layers 30 scripts/check_layers.py
check licences 30 scripts/check_licences.py
check version 30 scripts/set_version.py --check
build release 900 all
if ! $quick; then
  start_tidy
fi
run_tests tests-release release 900 "${without_long[@]}"
# What needs no MPI is the release build's.
# shellcheck disable=SC2016  # expanded by the inner shell
check build-mpich 600 sh -c 'cmake --preset mpich -DPAPFFT_BASE_FROM="$PWD/build/release" && cmake --build --preset mpich -j"$0" --target "$@"' \
  "$jobs" "${mpich_targets[@]}" "${ninja_options[@]}"
run_tests tests-mpich mpich 900 "${mpich_tests[@]}"

if ! $quick; then
  build asan-ubsan 900 "${asan_targets[@]}"
  run_tests tests-asan-ubsan asan-ubsan 600 -L "^($asan_labels)\$"
  build tsan 900 "${tsan_targets[@]}"
  archer=$(find /usr/lib/llvm-*/lib -name libarcher.so 2>/dev/null | tail -n 1)
  OMP_TOOL_LIBRARIES=$archer TSAN_OPTIONS=ignore_noninstrumented_modules=1 \
    run_tests tests-tsan tsan 900 -L "^($tsan_labels)\$" -E "$tsan_without"
  end_tidy
  : >"$logs/fuzz.log"
  limited fuzz $((300 + 8 * fuzz_seconds)) scripts/fuzz.sh "$fuzz_seconds"
  fuzz_ok=$(grep -c '^fuzz_.*no failure$' "$logs/fuzz.log")
  fuzz_bad=$(grep -c '^fuzz_.*FAILED' "$logs/fuzz.log")
  [ $((fuzz_ok + fuzz_bad)) -gt 0 ] || fuzz_bad=1
  count fuzz "$fuzz_ok" "$fuzz_bad" 0
fi

if [ "$skipped" -gt 0 ]; then
  echo "$passed passed, $failed failed, $skipped skipped"
else
  echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ]
