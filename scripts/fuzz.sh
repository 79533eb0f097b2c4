#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: scripts/fuzz.sh SECONDS [TARGET...]
# Builds the fuzzers and runs each for SECONDS, two at a time. Prints how many inputs each tried; exits 1 when one found a
# failure, which is kept in build/fuzz/failures/: fix it, and add the input to tests/fuzz/corpus/TARGET/ as crash-NAME.
set -eu
seconds=${1:?usage: scripts/fuzz.sh SECONDS [TARGET...]}
shift
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
mkdir -p build/fuzz/failures
cmake --preset asan-ubsan >/dev/null
cmake --build --preset asan-ubsan --target papfft_fuzzers -j2 >build/fuzz/build.log 2>&1 || { cat build/fuzz/build.log; exit 1; }
[ $# -gt 0 ] || set -- npy sigmf raw sound trace report decisions
export FUZZ_SECONDS="$seconds"
# What a run discovers is kept apart from the committed corpus, and used by the next run.
printf '%s\n' "$@" | xargs -P3 -I{} sh -c '
  mkdir -p build/fuzz/found/{}
  if build/asan-ubsan/tests/fuzz/fuzz_{} -max_total_time="$FUZZ_SECONDS" -rss_limit_mb=2048 -malloc_limit_mb=512 -timeout=10 \
      -max_len=4096 -print_final_stats=1 -artifact_prefix=build/fuzz/failures/{}- \
      build/fuzz/found/{} tests/fuzz/corpus/{} >build/fuzz/{}.log 2>&1; then
    echo "fuzz_{}: $(sed -n "s/^stat::number_of_executed_units: *//p" build/fuzz/{}.log) inputs, no failure"
  else
    echo "fuzz_{}: FAILED, see build/fuzz/{}.log"; tail -n 40 build/fuzz/{}.log; exit 1
  fi' || exit 1
