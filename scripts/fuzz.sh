#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: scripts/fuzz.sh SECONDS [TARGET...]
# Builds the fuzzers and runs each for SECONDS, two at a time. Prints how many inputs each tried; exits 1 when one found a
# failure, which is kept in build/fuzz/failures/: fix it, and add the input to tests/fuzz/corpus/TARGET/ as crash-NAME. From a minute on it
# also prints how much of the code that is meant has been reached, in edges between its blocks; build/fuzz/TARGET.coverage says where not.
set -eu
seconds=${1:?usage: scripts/fuzz.sh SECONDS [TARGET...]}
shift
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
mkdir -p build/fuzz/failures
cmake --preset asan-ubsan >/dev/null
cmake --build --preset asan-ubsan --target papfft_fuzzers -j2 >build/fuzz/build.log 2>&1 || { cat build/fuzz/build.log; exit 1; }
[ $# -gt 0 ] || set -- npy sigmf raw sound trace report decisions wire
export FUZZ_SECONDS="$seconds"
# What a run discovers is kept apart from the committed corpus, and used by the next run.
run_one() {
  local target=$1 reached='' files
  local fuzzer=build/asan-ubsan/tests/fuzz/fuzz_$target found=build/fuzz/found/$target
  mkdir -p "$found"
  if ! "$fuzzer" -max_total_time="$FUZZ_SECONDS" -rss_limit_mb=2048 -malloc_limit_mb=512 -timeout=10 -max_len=4096 -print_final_stats=1 \
      -artifact_prefix="build/fuzz/failures/$target-" "$found" "tests/fuzz/corpus/$target" >"build/fuzz/$target.log" 2>&1; then
    echo "fuzz_$target: FAILED, see build/fuzz/$target.log"
    tail -n 40 "build/fuzz/$target.log"
    return 1
  fi
  if [ "$FUZZ_SECONDS" -ge 60 ]; then
    case $target in
      trace) files='comm/record/' ;;
      report) files='app/report/' ;;
      raw) files='app/io/(sample_type|source|writer)' ;;
      decisions) files='comm/choose/decision_table' ;;
      wire) files='comm/(arrival/(arrival_exchange|decision_board|clock_)|engine/(stuck_council|farm)|transport/memory/)' ;;
      *) files="app/io/$target" ;;
    esac
    "$fuzzer" -runs=0 -print_coverage=1 "$found" "tests/fuzz/corpus/$target" 2>&1 | grep -E "COVERED_FUNC.* [^ ]*$files" >"build/fuzz/$target.coverage"
    reached=$(sed -E 's/.*edges: ([0-9]+)\/([0-9]+).*/\1 \2/' "build/fuzz/$target.coverage" |
      awk '{ hit += $1; all += $2 } END { if (all > 0) printf ", %d of %d edges reached", hit, all }')
  fi
  echo "fuzz_$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "build/fuzz/$target.log") inputs$reached, no failure"
}
export -f run_one
printf '%s\n' "$@" | xargs -P3 -I{} bash -c 'run_one {}' || exit 1
